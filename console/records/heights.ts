import { useCallback } from 'preact/hooks'
import { lineCountOf, type Row } from '../rrsets/rows.ts'

/** The heights of rows in rem; style/pages.css has them, too. */
const PADDING = 1.1875
const LINE = 1.3125

/** How many records a row shows. */
export const SHOWN_RECORDS = 3

/** The lines of a row of fixed height. @param isNarrow whether the records are below the name */
function heightInLines(row: Row, isNarrow: boolean): number {
  return Math.min(lineCountOf(row), SHOWN_RECORDS + 1) + (isNarrow ? 1 : 0)
}

/** Returns the height of a row of fixed height, in pixels; the caller draws again when the width of the window changes. */
export function useFixedHeight(): (row: Row) => number {
  const isNarrow = matchMedia('(max-width: 40rem)').matches
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize)
  return useCallback((row) => (PADDING + LINE * heightInLines(row, isNarrow)) * rem, [isNarrow, rem])
}
