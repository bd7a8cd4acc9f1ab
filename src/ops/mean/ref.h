SUM_REF(mean)
BROADCAST_REF(mean_grad)
