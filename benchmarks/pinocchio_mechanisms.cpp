// Pinocchio over batches of states of a tree with closed loops, each result stored into the caller's row-major array.
// Compiled like pinocchio_core.cpp. Loops are closed at points; a hinge of a planar mechanism needs no more.
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/constrained-dynamics.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/algorithm/loop-constrained-aba.hpp>
#include <pinocchio/algorithm/proximal.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/constraints.hpp>
#include <pinocchio/multibody.hpp>

#include <Eigen/LU>

namespace pin = pinocchio;
using Rotation = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;
using Vector = Eigen::Map<const Eigen::VectorXd>;
using Out = Eigen::Map<Eigen::VectorXd>;
using Constraints = std::vector<pin::RigidConstraintModel, Eigen::aligned_allocator<pin::RigidConstraintModel>>;
using ConstraintDatas = std::vector<pin::RigidConstraintData, Eigen::aligned_allocator<pin::RigidConstraintData>>;

struct Mechanism {
  pin::Model model;
  pin::Data data, loop_data;  // the loop solver keeps its own order of joints
  Constraints constraints;
  ConstraintDatas datas, loop_datas;
  pin::ProximalSettings settings, loop_settings;
  std::vector<int> rows, dependent, independent;  // of the loop matrix, for the projection
  Eigen::MatrixXd J, J_dependent, J_independent;
  Eigen::VectorXd v, a, zero, gamma;
};

static pin::SE3 placement(const double *t) {
  return pin::SE3(Eigen::Matrix3d(Eigen::Map<const Rotation>(t)), Eigen::Vector3d(t[9], t[10], t[11]));
}

extern "C" {

// a joint: parent (0 is the world), kind (0 hinge about z, 1 slider along z, 2 free), 12 placement
// a body: joint, 12 placement, mass, 3 com, 9 inertia about the com
// a loop: joints a and b, 12 placement of a, 12 placement of b
void *make_mechanism(int joints, const double *joint, int bodies, const double *body, int loops, const double *loop,
                     const double *gravity, double mu, int iterations, double loop_mu, int loop_iterations) {
  auto *m = new Mechanism();
  pin::Model &model = m->model;
  model.gravity.linear() = Eigen::Vector3d(gravity[0], gravity[1], gravity[2]);
  for (int i = 0; i < joints; ++i, joint += 14) {
    const std::string name = "joint" + std::to_string(i);
    const auto parent = static_cast<pin::JointIndex>(joint[0]);
    const pin::SE3 place = placement(joint + 2);
    if (joint[1] == 0) {
      model.addJoint(parent, pin::JointModelRZ(), place, name);
    } else if (joint[1] == 1) {
      model.addJoint(parent, pin::JointModelPZ(), place, name);
    } else {
      model.addJoint(parent, pin::JointModelFreeFlyer(), place, name);
    }
  }
  for (int i = 0; i < bodies; ++i, body += 26) {
    const pin::Inertia inertia(body[13], Eigen::Vector3d(body[14], body[15], body[16]),
                               Eigen::Matrix3d(Eigen::Map<const Rotation>(body + 17)));
    model.appendBodyToJoint(static_cast<pin::JointIndex>(body[0]), inertia, placement(body + 1));
  }
  for (int i = 0; i < loops; ++i, loop += 26) {
    m->constraints.push_back(pin::RigidConstraintModel(
        pin::CONTACT_3D, model, static_cast<pin::JointIndex>(loop[0]), placement(loop + 2),
        static_cast<pin::JointIndex>(loop[1]), placement(loop + 14), pin::LOCAL));
  }
  m->data = m->loop_data = pin::Data(model);
  for (auto &constraint : m->constraints) {
    m->datas.push_back(pin::RigidConstraintData(constraint));
    m->loop_datas.push_back(pin::RigidConstraintData(constraint));
  }
  if (loops) {
    pin::initConstraintDynamics(model, m->data, m->constraints, m->datas);
    pin::computeJointMinimalOrdering(model, m->loop_data, m->constraints);
  }
  m->settings = pin::ProximalSettings(1e-14, mu, iterations);
  m->loop_settings = pin::ProximalSettings(1e-10, loop_mu, loop_iterations);
  m->J = Eigen::MatrixXd::Zero(3 * loops, model.nv);
  m->v = m->a = m->zero = Eigen::VectorXd::Zero(model.nv);
  m->gamma = Eigen::VectorXd::Zero(3 * loops);
  return m;
}

// which rows of the loop matrix determine which rates from which
void split(void *handle, int rows, const int *row, int dependent, const int *other, int independent, const int *own) {
  auto &m = *static_cast<Mechanism *>(handle);
  m.rows.assign(row, row + rows);
  m.dependent.assign(other, other + dependent);
  m.independent.assign(own, own + independent);
  m.J_dependent.resize(rows, dependent);
  m.J_independent.resize(rows, independent);
}

#define FOR_EACH_STATE                                 \
  auto &m = *static_cast<Mechanism *>(handle);         \
  const int n = m.model.nv, nq = m.model.nq;           \
  for (long k = 0; k < count; ++k, q += nq, v += n, a += n, out += n)

void rnea(void *handle, long count, const double *q, const double *v, const double *a, double *out) {
  FOR_EACH_STATE Out(out, n) = pin::rnea(m.model, m.data, Vector(q, nq), Vector(v, n), Vector(a, n));
}

void aba(void *handle, long count, const double *q, const double *v, const double *a, double *out) {
  FOR_EACH_STATE Out(out, n) = pin::aba(m.model, m.data, Vector(q, nq), Vector(v, n), Vector(a, n));
}

void constraint_dynamics(void *handle, long count, const double *q, const double *v, const double *a, double *out) {
  FOR_EACH_STATE Out(out, n) = pin::constraintDynamics(m.model, m.data, Vector(q, nq), Vector(v, n), Vector(a, n),
                                                       m.constraints, m.datas, m.settings);
}

void loop_constrained_aba(void *handle, long count, const double *q, const double *v, const double *a, double *out) {
  FOR_EACH_STATE Out(out, n) = pin::lcaba(m.model, m.loop_data, Vector(q, nq), Vector(v, n), Vector(a, n),
                                          m.constraints, m.loop_datas, m.loop_settings);
}

// the rows of J for each loop's point, in world axes: velocity on side a less that on side b
static void loop_matrix(Mechanism &m) {
  for (size_t c = 0; c < m.constraints.size(); ++c) {
    const auto &constraint = m.constraints[c];
    const Eigen::Vector3d point = (m.data.oMi[constraint.joint1_id] * constraint.joint1_placement).translation();
    const auto fill = [&](pin::JointIndex joint, double sign) {
      for (; joint > 0; joint = m.model.parents[joint]) {
        const int first = m.model.joints[joint].idx_v();
        for (int i = first; i < first + m.model.joints[joint].nv(); ++i) {
          m.J.block<3, 1>(3 * c, i) =
              sign * (m.data.J.col(i).head<3>() + m.data.J.col(i).tail<3>().cross(point));
        }
      }
    };
    fill(constraint.joint1_id, 1.0);
    fill(constraint.joint2_id, -1.0);
  }
}

// what the rows accelerate by without accelerations of the joints
static void loop_bias(Mechanism &m) {
  const auto acceleration = [&](pin::JointIndex joint, const pin::SE3 &place) {
    const pin::Motion v = place.actInv(m.data.v[joint]), a = place.actInv(m.data.a[joint]);
    const Eigen::Vector3d own = a.linear() + v.angular().cross(v.linear());
    return Eigen::Vector3d((m.data.oMi[joint] * place).rotation() * own);
  };
  for (size_t c = 0; c < m.constraints.size(); ++c) {
    const auto &constraint = m.constraints[c];
    m.gamma.segment<3>(3 * c) = acceleration(constraint.joint1_id, constraint.joint1_placement) -
                                acceleration(constraint.joint2_id, constraint.joint2_placement);
  }
}

// Inverse dynamics with loops: rates and accelerations of the independent joints to the forces there. The other joints
// follow from the loop matrix by a dense LU, and rnea's forces are projected by the same factors.
void project(void *handle, long count, const double *q, const double *yd, const double *ydd, double *out) {
  auto &m = *static_cast<Mechanism *>(handle);
  const int nq = m.model.nq, f = m.independent.size(), r = m.rows.size(), d = m.dependent.size();
  Eigen::VectorXd multipliers(r), x(d), bias(r);
  for (long k = 0; k < count; ++k, q += nq, yd += f, ydd += f, out += f) {
    pin::computeJointJacobians(m.model, m.data, Vector(q, nq));
    loop_matrix(m);
    for (int i = 0; i < r; ++i) {
      for (int j = 0; j < d; ++j) m.J_dependent(i, j) = m.J(m.rows[i], m.dependent[j]);
      for (int j = 0; j < f; ++j) m.J_independent(i, j) = m.J(m.rows[i], m.independent[j]);
    }
    Eigen::PartialPivLU<Eigen::Ref<Eigen::MatrixXd>> lu(m.J_dependent);
    x = lu.solve(-(m.J_independent * Vector(yd, f)));
    for (int j = 0; j < f; ++j) {
      m.v[m.independent[j]] = yd[j];
      m.a[m.independent[j]] = ydd[j];
    }
    for (int j = 0; j < d; ++j) m.v[m.dependent[j]] = x[j];
    pin::forwardKinematics(m.model, m.data, Vector(q, nq), m.v, m.zero);
    loop_bias(m);
    for (int i = 0; i < r; ++i) bias[i] = m.gamma[m.rows[i]];
    x = lu.solve(-(m.J_independent * Vector(ydd, f)) - bias);
    for (int j = 0; j < d; ++j) m.a[m.dependent[j]] = x[j];
    pin::rnea(m.model, m.data, Vector(q, nq), m.v, m.a);
    for (int j = 0; j < d; ++j) x[j] = m.data.tau[m.dependent[j]];
    multipliers = lu.transpose().solve(x);
    for (int j = 0; j < f; ++j) {
      out[j] = m.data.tau[m.independent[j]] - m.J_independent.col(j).dot(multipliers);
    }
  }
}
}
