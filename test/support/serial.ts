import ava from 'ava'

/**
 * Declares tests that run one after the other: each finds what those before it left. And if all tests of a file created
 * domains at once, some would wait in the service's queue beyond its time limit on a busy machine.
 */
export const test = ava.serial
