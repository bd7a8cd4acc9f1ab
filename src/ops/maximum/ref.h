EXTREMUM_OF_TWO_REF(maximum, >)
