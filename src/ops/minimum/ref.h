EXTREMUM_OF_TWO_REF(minimum, <)
