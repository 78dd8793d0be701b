// Pinocchio's algorithms over batches of states, each full result stored into the caller's row-major array.
// Compiled with the headers of the `pin` wheel, -O3 -march=native, no prebuilt templates: the best a C++ user gets.
// With RNEA_ONLY there is inverse dynamics alone, which compiles in a fifth of the time (instructions.py).
#ifndef RNEA_ONLY
#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#endif
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/multibody.hpp>

namespace pin = pinocchio;
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Rotation = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;
using Vector = Eigen::Map<const Eigen::VectorXd>;
using Out = Eigen::Map<RowMatrix>;

struct Arm {
  pin::Model model;
  pin::Data data;
};

static pin::SE3 placement(const double *t) {
  return pin::SE3(Eigen::Map<const Rotation>(t), Eigen::Vector3d(t[9], t[10], t[11]));
}

extern "C" {

// 39 numbers a joint: 12 placement, 12 body placement, mass, 3 com, 9 inertia, armature, 1 for revolute
void *make_arm(int n, const double *joints, const double *gravity) {
  pin::Model model;
  model.gravity.linear() = Eigen::Vector3d(gravity[0], gravity[1], gravity[2]);
  pin::JointIndex parent = 0;
  for (int i = 0; i < n; ++i) {
    const double *j = joints + 39 * i;
    const std::string name = "joint" + std::to_string(i);
    parent = j[38] > 0 ? model.addJoint(parent, pin::JointModelRZ(), placement(j), name)
                       : model.addJoint(parent, pin::JointModelPZ(), placement(j), name);
    const pin::Inertia body(j[24], Eigen::Vector3d(j[25], j[26], j[27]),
                            Eigen::Matrix3d(Eigen::Map<const Rotation>(j + 28)));
    model.appendBodyToJoint(parent, body, placement(j + 12));
    model.armature[i] = j[37];
  }
  return new Arm{model, pin::Data(model)};
}

void inverse_dynamics(void *p, long count, const double *q, const double *v, const double *a, double *out) {
  Arm &arm = *static_cast<Arm *>(p);
  const int n = arm.model.nv;
  for (long k = 0; k < count; ++k, q += n, v += n, a += n, out += n)
    Eigen::Map<Eigen::VectorXd>(out, n) = pin::rnea(arm.model, arm.data, Vector(q, n), Vector(v, n), Vector(a, n));
}

#ifndef RNEA_ONLY
void forward_dynamics(void *p, long count, const double *q, const double *v, const double *tau, double *out) {
  Arm &arm = *static_cast<Arm *>(p);
  const int n = arm.model.nv;
  for (long k = 0; k < count; ++k, q += n, v += n, tau += n, out += n)
    Eigen::Map<Eigen::VectorXd>(out, n) = pin::aba(arm.model, arm.data, Vector(q, n), Vector(v, n), Vector(tau, n));
}

void mass_matrix(void *p, long count, const double *q, double *out) {
  Arm &arm = *static_cast<Arm *>(p);
  const int n = arm.model.nv;
  for (long k = 0; k < count; ++k, q += n, out += n * n) {
    pin::crba(arm.model, arm.data, Vector(q, n));
    Out(out, n, n) = arm.data.M.selfadjointView<Eigen::Upper>();
  }
}

void inverse_dynamics_derivatives(void *p, long count, const double *q, const double *v, const double *a, double *dq,
                                  double *dv, double *da) {
  Arm &arm = *static_cast<Arm *>(p);
  const int n = arm.model.nv;
  for (long k = 0; k < count; ++k, q += n, v += n, a += n, dq += n * n, dv += n * n, da += n * n) {
    pin::computeRNEADerivatives(arm.model, arm.data, Vector(q, n), Vector(v, n), Vector(a, n));
    Out(dq, n, n) = arm.data.dtau_dq;
    Out(dv, n, n) = arm.data.dtau_dv;
    Out(da, n, n) = arm.data.M.selfadjointView<Eigen::Upper>();
  }
}

void forward_dynamics_derivatives(void *p, long count, const double *q, const double *v, const double *tau, double *dq,
                                  double *dv, double *dtau) {
  Arm &arm = *static_cast<Arm *>(p);
  const int n = arm.model.nv;
  for (long k = 0; k < count; ++k, q += n, v += n, tau += n, dq += n * n, dv += n * n, dtau += n * n) {
    pin::computeABADerivatives(arm.model, arm.data, Vector(q, n), Vector(v, n), Vector(tau, n));
    Out(dq, n, n) = arm.data.ddq_dq;
    Out(dv, n, n) = arm.data.ddq_dv;
    Out(dtau, n, n) = arm.data.Minv.selfadjointView<Eigen::Upper>();
  }
}
#endif
}
