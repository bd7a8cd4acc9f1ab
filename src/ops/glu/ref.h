static real glu_sigmoid(real x) { return 1 / (1 + exp(-x)); }

/* The normal distribution function and its density. */
static real glu_phi(real x) { return (1 + erf(x * (real)0.70710678118654752)) / 2; }
static real glu_density(real x) { return (real)0.39894228040143268 * exp(-x * x / 2); }

GLU_REF(glu, a* glu_sigmoid(b), dy* glu_sigmoid(b), dy* a* glu_sigmoid(b) * (1 - glu_sigmoid(b)))
GLU_REF(swiglu, a* glu_sigmoid(a) * b, dy* b* glu_sigmoid(a) * (1 + a * (1 - glu_sigmoid(a))),
        dy* a* glu_sigmoid(a))
GLU_REF(geglu, a* glu_phi(a) * b, dy* b*(glu_phi(a) + a * glu_density(a)), dy* a* glu_phi(a))
