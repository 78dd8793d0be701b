// Quotients and inverse roots to the last bit or two. In float32 an instruction gives them (relative errors of at most
// 2^-23 and 2^-22.9 by the PTX manual). In float64 Newton's steps and a series correct its estimate.
// Division and rsqrt of CUDA have a second way for tiny and huge numbers, which costs all threads registers and time.
// For 0 they are NaN in float64, as the CPU's are with AVX-512, and infinite in float32.

static __device__ __forceinline__ double tauforge_reciprocal(double x)
{
#ifdef __CUDA_ARCH__
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    y = fma(y, fma(-x, y, 1.0), y);
    return fma(y, fma(-x, y, 1.0), y);
#else
    return 1.0 / x;
#endif
}

static __device__ __forceinline__ double tauforge_rsqrt(double x)
{
#ifdef __CUDA_ARCH__
    double y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    const double e = fma(-x * y, y, 1.0);
    return fma(y * e, fma(fma(0.3125, e, 0.375), e, 0.5), y);
#else
    return 1.0 / sqrt(x);
#endif
}

static __device__ __forceinline__ float tauforge_reciprocalf(float x)
{
#ifdef __CUDA_ARCH__
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return 1.0f / x;
#endif
}

static __device__ __forceinline__ float tauforge_rsqrtf(float x)
{
#ifdef __CUDA_ARCH__
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return 1.0f / sqrtf(x);
#endif
}
