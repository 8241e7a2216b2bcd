import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Row } from '../rrsets/rows.ts'
import { useFixedHeight } from './heights.ts'

/** Pixels above and below the window in which rows are drawn, too. */
const MARGIN = 400

interface TableProps {
  rows: Row[]
  /** The row that the Tab key leads to; it is always drawn. */
  active: string | undefined
  /** Whether a row is as high as its content: those are always drawn, so that nothing that was typed is lost. */
  isFlexible: (row: Row) => boolean
  isEverySelected: boolean
  onSelectAll: (isSelected: boolean) => void
  /** Called when a row gets the focus. */
  onActive: (key: string) => void
  /** Called for keys that are pressed on a row. */
  onKeyDown: (event: KeyboardEvent) => void
  /** Draws the cells of a row. */
  children: (row: Row) => ComponentChildren
}

/** A table of which only the rows in the window are drawn; the others are known by their heights. */
export function Table({ rows, active, isFlexible, isEverySelected, children, ...on }: TableProps) {
  const body = useRef<HTMLDivElement>(null)
  const fixedHeight = useFixedHeight()
  const [measured, setMeasured] = useState<ReadonlyMap<string, number>>(new Map())
  const ends = useMemo(() => {
    let end = 0
    return rows.map((row) => (end += (isFlexible(row) ? measured.get(row.key) : undefined) ?? fixedHeight(row)))
  }, [rows, measured, isFlexible, fixedHeight])
  const { top, bottom } = useWindow(body)
  const first = firstBeyond(ends, top - MARGIN)
  const last = firstBeyond(ends, bottom + MARGIN)
  const drawn = rows.flatMap((row, i) =>
    (i >= first && i <= last) || row.key === active || isFlexible(row) ? [{ row, i }] : [],
  )
  return (
    <div role="table" class="records" aria-label="Records" aria-rowcount={rows.length + 1}>
      <div role="rowgroup" class="records-head">
        <div role="row" class="cells" aria-rowindex={1}>
          <span role="columnheader" class="select">
            <input
              type="checkbox"
              aria-label="Select all rows shown"
              checked={isEverySelected}
              onChange={(event) => {
                on.onSelectAll(event.currentTarget.checked)
              }}
            />
          </span>
          <span role="columnheader" class="owner">
            Name
          </span>
          <span role="columnheader" class="type">
            Type
          </span>
          <span role="columnheader" class="contents">
            Records
          </span>
          <span role="columnheader" class="ttl">
            TTL
          </span>
          <span role="columnheader" class="acts">
            <span class="unseen">Acts</span>
          </span>
        </div>
      </div>
      <div
        role="rowgroup"
        ref={body}
        class="records-body"
        style={{ height: `${ends.at(-1) ?? 0}px` }}
        onKeyDown={on.onKeyDown}
        onFocusIn={({ target }) => {
          on.onActive((target as Element).closest<HTMLElement>('.record-row')!.dataset['key']!)
        }}
      >
        {drawn.map(({ row, i }) => (
          <Place
            key={row.key}
            id={row.key}
            index={i}
            top={ends[i - 1] ?? 0}
            onHeight={
              isFlexible(row)
                ? (height) => {
                    setMeasured((before) =>
                      before.get(row.key) === height ? before : new Map(before).set(row.key, height),
                    )
                  }
                : undefined
            }
          >
            {children(row)}
          </Place>
        ))}
      </div>
    </div>
  )
}

/** The index of the first row that ends beyond a position; the number of rows if there is none. */
function firstBeyond(ends: number[], position: number): number {
  let [low, high] = [0, ends.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (ends[middle]! > position) high = middle
    else low = middle + 1
  }
  return low
}

interface PlaceProps {
  id: string
  index: number
  top: number
  /** Called with the height of the content. */
  onHeight: ((height: number) => void) | undefined
  children: ComponentChildren
}

/** Puts a row at its place. */
function Place({ id, index, top, onHeight, children }: PlaceProps) {
  const element = useRef<HTMLDivElement>(null)
  const isMeasured = onHeight !== undefined
  useLayoutEffect(() => {
    if (!isMeasured) return undefined
    const observer = new ResizeObserver(() => {
      onHeight(element.current!.offsetHeight)
    })
    observer.observe(element.current!)
    return () => {
      observer.disconnect()
    }
  }, [isMeasured])
  return (
    <div
      ref={element}
      role="row"
      class="record-row"
      data-key={id}
      aria-rowindex={index + 2}
      style={{ top: `${top}px` }}
    >
      {children}
    </div>
  )
}

/** The part of an element that is in the window, in pixels from its top. Draws again when the window changes. */
function useWindow(element: RefObject<HTMLElement | null>): { top: number; bottom: number } {
  const [part, setPart] = useState({ top: 0, bottom: 0, width: 0 })
  const look = () => {
    const top = -element.current!.getBoundingClientRect().top
    const bottom = top + innerHeight
    const width = innerWidth
    if (top !== part.top || bottom !== part.bottom || width !== part.width) setPart({ top, bottom, width })
  }
  // What is above the table may have grown.
  useLayoutEffect(look)
  useEffect(() => {
    addEventListener('scroll', look, { passive: true })
    addEventListener('resize', look)
    return () => {
      removeEventListener('scroll', look)
      removeEventListener('resize', look)
    }
  })
  return part
}
