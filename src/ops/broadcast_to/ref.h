BROADCAST_REF(broadcast_to)
