SUM_REF(sum_to)
