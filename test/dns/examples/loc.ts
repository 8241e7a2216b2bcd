import { type Examples, malformed } from './examples.ts'

const USUAL = '1.00m 10000.00m 10.00m'
const PLACE = '42 21 54.000 N 71 6 18.000 W'

function refused(reason: string): string {
  return malformed('LOC', reason)
}

const NORTH = refused('expecting degrees, minutes and seconds, then N or S')
const EAST = refused('expecting degrees, minutes and seconds, then E or W')
const SIXTY = refused('minutes and seconds must be less than 60')
const ALTITUDE = refused('an altitude is from -100000.00m to 21374836.47m')
const SPHERE = refused('a size or precision is from 0.00m to 42949672.95m')

function decimals(places: number, text: string): string {
  return refused(`expecting a number with at most ${places} decimals, got "${text}"`)
}

export const LOC: Examples = {
  accepted: [
    `${PLACE} -24.00m 30.00m 10000.00m 10.00m`,
    `90 0 0.000 N 180 0 0.000 E 21374836.47m 40000000.00m 0.01m 0.00m`,
    `90 0 0.000 S 180 0 0.000 W -100000.00m ${USUAL}`,
    `0 0 0.001 S 0 0 0.001 W -0.01m ${USUAL}`,
    `52 22 23.123 N 4 53 32.999 E -2.00m ${USUAL}`,
    ['42 21 54 N 71 06 18 W -24m 30m', `${PLACE} -24.00m 30.00m 10000.00m 10.00m`],
    ['42 21 54 N 71 06 18 W 24m 33m 10m 10m', `${PLACE} 24.00m 30.00m 10.00m 10.00m`],
    ['42 21 43.952 N 71 5 6.344 W -24m 1m 200m', '42 21 43.952 N 71 5 6.344 W -24.00m 1.00m 200.00m 10.00m'],
    ['32 7 19 S 116 2 25 E 10m', `32 7 19.000 S 116 2 25.000 E 10.00m ${USUAL}`],
    ['0 N 0 E 0', `0 0 0.000 N 0 0 0.000 E 0.00m ${USUAL}`],
    ['0 S 0 W 0', `0 0 0.000 N 0 0 0.000 E 0.00m ${USUAL}`],
    ['60 9 N 24 39 E 10m', `60 9 0.000 N 24 39 0.000 E 10.00m ${USUAL}`],
    ['046 047 00 N 08 0 0.1 E 1.15', `46 47 0.000 N 8 0 0.100 E 1.15m ${USUAL}`],
    ['1 2 3.4 N 5 6 7.89 E 1.1', `1 2 3.400 N 5 6 7.890 E 1.10m ${USUAL}`],
    ['1 N 1 E 1 25m 1234.56m 0.99m', `1 0 0.000 N 1 0 0.000 E 1.00m 20.00m 1000.00m 0.90m`],
    ['1 N 1 E 1 0 0.00m 0', '1 0 0.000 N 1 0 0.000 E 1.00m 0.00m 0.00m 0.00m'],
    ['1\t(2 3 N) 4 5 6 E 7', `1 2 3.000 N 4 5 6.000 E 7.00m ${USUAL}`],
    ['\\049 \\N 1 E 1\\m', `1 0 0.000 N 1 0 0.000 E 1.00m ${USUAL}`],
    ['\\# 16 00 12 16 13 80000000 80000000 00989680', `0 0 0.000 N 0 0 0.000 E 0.00m ${USUAL}`],
  ],
  rejected: [
    ['()', NORTH],
    ['42 21 54', NORTH],
    ['42 21 54 n 71 06 18 W 24m', NORTH],
    ['71 06 18 W 42 21 54 N 24m', NORTH],
    ['N 1 E 1', NORTH],
    ['1 2 3 4 N 1 E 1', NORTH],
    ['42.5 N 71 W 24m', refused('expecting an integer')],
    ['-42 N 71 W 24m', refused('expecting an integer')],
    ['42 21.5 N 71 W 24m', refused('expecting an integer')],
    ['42 N 71', EAST],
    ['42 N 71 N 24m', EAST],
    ['42 N 71 W', refused('expecting an altitude, such as 24.50m')],
    ['42 60 N 71 W 24m', SIXTY],
    ['42 0 60 N 71 W 24m', SIXTY],
    ['42 0 59.9999 N 71 W 24m', decimals(3, '59.9999')],
    ['42 0 .5 N 71 W 24m', decimals(3, '.5')],
    ['42 0 5. N 71 W 24m', decimals(3, '5.')],
    ['90 0 0.001 N 0 E 0', refused('N or S is 90 degrees at most')],
    ['91 S 0 E 0', refused('N or S is 90 degrees at most')],
    ['0 N 180 0 0.001 W 0', refused('E or W is 180 degrees at most')],
    [`${'9'.repeat(400)} N 0 E 0`, refused('N or S is 90 degrees at most')],
    ['1 N 1 E inf', decimals(2, 'inf')],
    ['1 N 1 E 1e3', decimals(2, '1e3')],
    ['1 N 1 E +5', decimals(2, '+5')],
    ['1 N 1 E .5', decimals(2, '.5')],
    ['1 N 1 E 1.234m', decimals(2, '1.234')],
    ['1 N 1 E 1mm', decimals(2, '1m')],
    ['1 N 1 E 10 m', decimals(2, '')],
    ['1 N 1 E 10km', decimals(2, '10k')],
    ['1 N 1 E -100000.01m', ALTITUDE],
    ['1 N 1 E 21374836.48m', ALTITUDE],
    [`1 N 1 E ${'9'.repeat(400)}`, ALTITUDE],
    ['1 N 1 E 1 42949672.96m', SPHERE],
    ['1 N 1 E 1 90000000m', SPHERE],
    ['1 N 1 E 1 -1m', SPHERE],
    ['1 N 1 E 1 1 1 1 1', refused('expected end of record, got "1"')],
    ['1 N 1 E "1m"', refused('expecting an identifier')],
    ['\\# 15 00 12 16 13 80000000 80000000 009896', refused('the data ends too early')],
    ['\\# 17 00 12 16 13 80000000 80000000 00989680 00', refused('the data is longer than the record')],
    ['\\# 16 01 12 16 13 80000000 80000000 00989680', refused('the data is not in canonical form')],
    ['\\# 16 00 02 16 13 80000000 80000000 00989680', refused('the data is not in canonical form')],
    ['\\# 16 00 a2 16 13 80000000 80000000 00989680', refused('the data is not in canonical form')],
    ['\\# 16 00 12 16 59 80000000 80000000 00989680', SPHERE],
    ['\\# 16 00 12 16 13 80000000 80000000 80000000', ALTITUDE],
    ['\\# 16 00 12 16 13 ffffffff 80000000 00989680', refused('N or S is 90 degrees at most')],
  ],
}
