import { useEffect, useLayoutEffect, useMemo, useState } from 'preact/hooks'
import { mayChange } from '../api/me.ts'
import { location } from '../router.ts'
import { filterOf } from '../rrsets/filter.ts'
import { editOf, type Row, rowsOf } from '../rrsets/rows.ts'
import { rrsetKey, type State } from '../rrsets/rrset.ts'
import { type Edit, type Edits, isSame, merge, staged } from './draft.ts'
import { typedForms, useStaged } from './staging.ts'
import { useZone } from './zone.ts'

type Problems = ReadonlyMap<string, string[]>

const NO_EDITS: Edits = new Map()

/** The rows of the records page, what is staged, and what can be done with them. */
export function useRecords(domain: string) {
  const zone = useZone(domain)
  const [edits, setEdits] = useStaged(domain)
  const [problems, setProblems] = useState<Problems>(new Map())
  const [discarded, setDiscarded] = useState<Edits>(NO_EDITS)
  const [filter, setFilterText] = useState(location.value.query.get('filter') ?? '')
  /** The rows that were staged since the filter was typed: they stay in sight. */
  const [kept, setKept] = useState<ReadonlySet<string>>(new Set())
  const [open, setOpen] = useState<ReadonlySet<string>>(() => new Set(typedForms(domain).filter((key) => key !== '')))
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [latest, setLatest] = useState<string>()
  const [active, setActive] = useState<string | undefined>(undefined)
  const [focusing, setFocusing] = useState<{ key: string }>()

  const merged = useMemo(
    () => (zone.isWhole ? merge(edits, zone.rrsets) : { edits, collisions: new Map<string, never>() }),
    [edits, zone.rrsets, zone.isWhole],
  )
  useEffect(() => {
    // What somebody else has done, too, need not be done.
    if (merged.edits.size < edits.size) setEdits(merged.edits)
  }, [merged])

  const rows = useMemo(() => rowsOf(zone.rrsets, edits), [zone.rrsets, edits])
  const byKey = useMemo(() => new Map(rows.map((row) => [row.key, row])), [rows])
  const isFlexible = useMemo(
    () =>
      ({ key }: Row) =>
        open.has(key) || problems.has(key) || merged.collisions.has(key),
    [open, problems, merged],
  )
  const visible = useMemo(() => {
    const isFound = filterOf(filter, domain)
    return rows.filter((row) => kept.has(row.key) || isFlexible(row) || isFound({ ...row, ...row.state }))
  }, [rows, filter, kept, isFlexible])

  /** The rows whose name stands in the row above. */
  const repeating = useMemo(
    () => new Set(visible.filter((row, i) => visible[i - 1]?.subname === row.subname).map(({ key }) => key)),
    [visible],
  )

  // Before the next key is pressed.
  useLayoutEffect(() => {
    if (focusing === undefined) return
    const row = document.querySelector(`[data-key="${CSS.escape(focusing.key)}"]`)
    const target = row?.querySelector<HTMLElement>('button[data-open], form :is(input, textarea)')
    target?.focus({ preventScroll: true })
    target?.scrollIntoView({ block: 'nearest' })
  }, [focusing])
  const focusRow = (key: string | undefined) => {
    if (key === undefined) return
    setActive(key)
    setFocusing({ key })
  }

  const stage = (changes: Edit[]) => {
    setDiscarded(NO_EDITS)
    const refused = new Map(problems)
    for (const edit of changes) refused.delete(rrsetKey(edit))
    setProblems(refused)
    setKept(new Set([...kept, ...changes.map(rrsetKey)]))
    setEdits(staged(edits, changes))
  }
  const setOpened = (key: string, isOpen: boolean) => {
    const next = new Set(open)
    if (isOpen) next.add(key)
    else next.delete(key)
    setOpen(next)
    if (!isOpen) focusRow(key)
  }

  const setFilter = (text: string) => {
    setFilterText(text)
    setKept(new Set())
    setActive(undefined)
  }

  return {
    zone,
    mayEdit: mayChange(domain) && !zone.isSuspended,
    edits,
    collisions: merged.collisions,
    problems,
    setProblems,
    discarded,
    rows,
    byKey,
    visible,
    repeating,
    isFlexible,
    filter,
    setFilter,
    open,
    setOpened,
    selected: visible.filter(({ key }) => selected.has(key)),
    setSelected,
    /** Selects a row, or not; as range, with all from the row for which that was done before. */
    select: (key: string, isSelected: boolean, isRange: boolean) => {
      const keys = visible.map((row) => row.key)
      const to = keys.indexOf(key)
      const from = isRange && latest !== undefined ? keys.indexOf(latest) : -1
      const range = from < 0 ? [key] : keys.slice(Math.min(from, to), Math.max(from, to) + 1)
      const next = new Set(selected)
      for (const each of range) {
        if (isSelected) next.add(each)
        else next.delete(each)
      }
      setSelected(next)
      setLatest(key)
    },
    active: visible.some(({ key }) => key === active) ? active : visible[0]?.key,
    setActive,
    focusRow,
    stage,
    /** Stages another state of rows; null deletes them. Returns how many of them become other than they are. */
    change: (some: Row[], after: (state: State) => State | null) => {
      const next = some.flatMap((row) => {
        const state = row.edit?.after === null ? null : row.state
        const other = state && after(state)
        return isSame(state, other) ? [] : [editOf(row, other)]
      })
      stage(next)
      return next.length
    },
    discardOne: (row: Row) => {
      const at = visible.indexOf(row)
      stage([{ ...row.edit!, after: row.edit!.base }])
      focusRow(zone.rrsets.has(row.key) ? row.key : (visible[at + 1] ?? visible[at - 1])?.key)
    },
    discard: () => {
      setDiscarded(edits)
      setEdits(NO_EDITS)
      setProblems(new Map())
    },
    bringBack: () => {
      setEdits(new Map([...discarded, ...edits]))
      setDiscarded(NO_EDITS)
    },
    /** Called when the edits have been applied. A filter that finds no row any more is cleared. */
    settle: () => {
      const isFound = filterOf(filter, domain)
      if (!visible.some((row) => row.edit?.after !== null && isFound({ ...row, ...row.state }))) setFilter('')
      zone.reload(edits)
      setEdits(NO_EDITS)
      setProblems(new Map())
      setSelected(new Set())
    },
  }
}
