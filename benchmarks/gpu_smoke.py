import time, numpy as np
t=time.perf_counter()
import tauforge as tf
import cupy as cp
arm=tf.load("puma560"); rig=tf.load("dasgupta1998")
print("load", time.perf_counter()-t)
rng=np.random.default_rng(0)
q,qd,qdd=rng.normal(size=(3,1000,6))
ref=arm.inverse_dynamics(q,qd,qdd)
got=arm.inverse_dynamics(*map(cp.asarray,(q,qd,qdd)))
print(type(got), np.abs(cp.asnumpy(got)-ref).max()/np.abs(ref).max())
p=tf.Payload(1.5,(0,.1,.2))
print("payload", np.abs(cp.asnumpy(arm.inverse_dynamics(*map(cp.asarray,(q,qd,qdd)),payload=p))-arm.inverse_dynamics(q,qd,qdd,payload=p)).max())
pose=np.array([0.1,0,1,.1,.2,.1])+0.05*rng.normal(size=(1000,6)); tw=rng.normal(size=(1000,6))
F=rig.inverse_dynamics(pose,tw,tw)
print("rig", np.abs(cp.asnumpy(rig.inverse_dynamics(*map(cp.asarray,(pose,tw,tw))))-F).max()/np.abs(F).max())
a=rig.forward_dynamics(pose,tw,F)
print("rig fd", np.abs(cp.asnumpy(rig.forward_dynamics(*map(cp.asarray,(pose,tw,F))))-a).max()/np.abs(a).max())
bad=q.copy(); bad[3,2]=np.nan; bad[7,0]=np.inf
g=cp.asnumpy(arm.inverse_dynamics(*map(cp.asarray,(bad,qd,qdd)))); print("nan rows", np.flatnonzero(np.isnan(g).any(1)), np.isnan(g[3]).all(), np.isnan(g[7]).all())
sing=pose.copy(); sing[5]=[0,0,0,0,0,0]
try: print(rig.forward_dynamics(cp.asarray(sing),cp.asarray(tw),cp.asarray(F)).shape)
except tf.SingularityError as e: print("E", e, e.row)
for f in (lambda: arm.inverse_dynamics(cp.asarray(q),qd,qdd), lambda: arm.inverse_dynamics(cp.asarray(q[:, :5]),cp.asarray(qd),cp.asarray(qdd)), lambda: arm.inverse_dynamics(cp.asarray(q).astype(cp.float32),cp.asarray(qd),cp.asarray(qdd)), lambda: arm.inverse_dynamics(cp.asarray(q).astype(cp.int32),cp.asarray(qd),cp.asarray(qdd))):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
print("strided", np.abs(cp.asnumpy(arm.inverse_dynamics(cp.asarray(q)[::2],cp.asarray(qd)[::2],cp.asarray(qdd)[:1]))-arm.inverse_dynamics(q[::2],qd[::2],qdd[:1])).max())
print("empty", arm.inverse_dynamics(*(cp.zeros((0,6)),)*3).shape, "one", arm.inverse_dynamics(*(cp.zeros(6),)*3))
x=cp.asarray(rng.normal(size=(2,3,6,2)))[...,0]
print("3d", np.abs(cp.asnumpy(arm.gravity_forces(x))-arm.gravity_forces(cp.asnumpy(x))).max())
with cp.cuda.Stream(non_blocking=True) as s:
    r=arm.inverse_dynamics(*map(cp.asarray,(q,qd,qdd))); s.synchronize(); print("stream", np.abs(cp.asnumpy(r)-ref).max())
k=arm.kernel("inverse_dynamics",target="cuda",varying=["mass"])
m=np.tile([j.mass for j in arm.joints],(1000,1))*rng.uniform(.5,2,(1000,6))
print("varying", np.abs(cp.asnumpy(k(*map(cp.asarray,(q,qd,qdd,m))))[3]-arm.replace(mass=m[3]).inverse_dynamics(q[3],qd[3],qdd[3])).max())
try:
    import torch
    tq=torch.tensor(q,device="cuda"); print(k.__class__, type(arm.kernel("gravity_forces",target="cuda")(tq)))
except Exception as e: print("torch", e)
