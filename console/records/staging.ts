import { useMemo } from 'preact/hooks'
import { me } from '../api/me.ts'
import { draftKey, keep, keptBehind, read, useKept } from '../kept.ts'
import { Shared } from '../shared.ts'
import { type Edit, type Edits, staged } from './draft.ts'

type Kept = [place: string, edit: Edit][] | undefined

const keyFor = (domain: string) => draftKey(me.value!.account.email, 'edits', domain)
const listOf = (edits: Edits): Kept => (edits.size === 0 ? undefined : [...edits])

/** The key of what is typed in a form. @param form the key of its row; empty: it is that for new records */
export const formKey = (domain: string, form: string) => `${draftKey(me.value!.account.email, 'form', domain)} ${form}`

/** The rows in whose forms something was typed before this page was loaded; an empty one: so it is in that for new records. */
export const typedForms = (domain: string) => keptBehind(formKey(domain, ''))

/** Another one whenever edits are staged or gone. */
const staging = new Shared({})

/** Whether edits of a domain are staged. */
export function hasStaged(domain: string): boolean {
  return read(keyFor(domain)) !== undefined
}

/** Stages edits of a domain whose records page is not shown. */
export function stageElsewhere(domain: string, edits: Edit[]): void {
  const before: Edits = new Map(read(keyFor(domain)) as Kept)
  // What is staged already is not replaced unseen.
  keep(keyFor(domain), listOf(staged(new Map(), [...edits, ...before.values()])))
}

/** The staged edits of a domain, which survive a reload of the page and the end of the session in this tab. */
export function useStaged(domain: string): [Edits, (edits: Edits) => void] {
  const [kept, setKept] = useKept<Kept>(keyFor(domain))
  const edits = useMemo(() => new Map(kept), [kept])
  return [
    edits,
    (next) => {
      setKept(listOf(next))
      staging.value = {}
    },
  ]
}
