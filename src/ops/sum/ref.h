SUM_REF(sum)
