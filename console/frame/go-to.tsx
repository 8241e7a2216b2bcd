import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { domainsWith } from '../api/domains.ts'
import { mayChange, maySee, me, signOut } from '../api/me.ts'
import { actFor, actForOneself, memberships } from '../api/members.ts'
import { keep, read } from '../kept.ts'
import { Refusal, useAction } from '../kit/form.tsx'
import { useAsked } from '../kit/loading.tsx'
import { keyboard } from '../records/keys.tsx'
import { navigate } from '../router.ts'
import { Shared } from '../shared.ts'
import { type Goal, goalsFor, isMeant } from './goals.ts'

/** Whether the list of goals is open. */
export const goTo = new Shared(false)

const recentKey = () => `zoneplane recent domains of ${me.value!.account.email}`
const MOST_RECENT = 20

const recent = () => (read(recentKey()) ?? []) as string[]

/** Notes that somebody has visited a domain. */
export function noteVisit(domain: string): void {
  keep(recentKey(), [domain, ...recent().filter((other) => other !== domain)].slice(0, MOST_RECENT))
}

/** The list of everything one can go to, on Ctrl K; on `/` where the page uses that key for nothing else. */
export function GoTo() {
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const isTyping = (event.target as Element).matches('input, textarea, select')
      const isCommand = (event.ctrlKey || event.metaKey) && event.key === 'k'
      const isSlash = event.key === '/' && keyboard.hasLetters && !isTyping
      if (event.defaultPrevented || !(isCommand || isSlash)) return
      if (document.querySelector('dialog[open]') !== null) return
      event.preventDefault()
      goTo.value = true
    }
    // After the listeners of pages.
    addEventListener('keydown', listen)
    return () => {
      removeEventListener('keydown', listen)
    }
  }, [])
  return goTo.value ? <Goals /> : null
}

/** What is done at once, without a page. */
interface Act {
  text: string
  act: () => Promise<void> | void
}

function acts(): Act[] {
  const { membership } = me.value!
  const others = memberships.value?.filter(({ id }) => id !== membership?.id) ?? []
  return [
    ...(membership === null ? [] : [{ text: 'Back to your own account', act: actForOneself }]),
    ...others.map((other) => ({ text: `Act for ${other.account}`, act: () => actFor(other) })),
    { text: 'Sign out', act: signOut },
  ]
}

function Goals() {
  const [typed, setTyped] = useState('')
  const [at, setAt] = useState(0)
  const action = useAction()
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  useLayoutEffect(() => {
    element.current!.showModal()
  }, [])
  // A word of what is typed can be one of a domain's name, and the others say what to do there.
  const word = typed.split(/\s+/).reduce((longest, each) => (each.length > longest.length ? each : longest), '')
  const first = useAsked(() => domainsWith(''), [])
  const isWhole = first.value !== undefined && first.value.next === undefined
  const further = useAsked(async () => (isWhole || word === '' ? undefined : domainsWith(word)), [word, isWhole])
  const names = [first, further].flatMap(({ value }) => value?.items ?? []).map(({ name }) => name)
  const { token } = me.value!
  const found: (Goal | Act)[] = goalsFor(typed, [...new Set([...recent(), ...names])], {
    mayCreate: token.perm_create_domain,
    mayManageTokens: token.perm_manage_tokens,
    mayChange,
    maySee,
  })
  const goals = [...found, ...acts().filter((act) => isMeant(typed, act))]
  const chosen = Math.min(at, goals.length - 1)
  const close = () => {
    goTo.value = false
  }
  const go = (goal: (typeof goals)[number] | undefined) => {
    if (goal === undefined) return
    if ('act' in goal) {
      action.run(async () => {
        await goal.act()
        close()
      })
      return
    }
    close()
    navigate(goal.to)
  }
  return (
    <dialog ref={element} class="goals" aria-label="Go to" onCancel={close}>
      <form
        method="dialog"
        onSubmit={(event) => {
          event.preventDefault()
          go(goals[chosen])
        }}
      >
        <input
          role="combobox"
          list={undefined}
          aria-label="Go to"
          aria-expanded="true"
          aria-controls={id}
          aria-activedescendant={goals.length > 0 ? `${id}-${chosen}` : undefined}
          placeholder="A domain, a page, or what to do"
          autofocus
          value={typed}
          onInput={(event) => {
            setTyped(event.currentTarget.value)
            setAt(0)
          }}
          onKeyDown={(event) => {
            const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
            if (step === undefined) return
            event.preventDefault()
            const next = (chosen + step + goals.length) % goals.length
            setAt(next)
            document.getElementById(`${id}-${next}`)?.scrollIntoView({ block: 'nearest' })
          }}
        />
      </form>
      <ul role="listbox" aria-label="Goals" id={id} tabIndex={-1}>
        {goals.map((goal, i) => (
          <li
            key={goal.text}
            id={`${id}-${i}`}
            role="option"
            aria-selected={i === chosen}
            onClick={() => {
              go(goal)
            }}
          >
            {goal.text}
          </li>
        ))}
      </ul>
      <Refusal of={action} />
      {goals.length === 0 && (
        <p class="quiet" role="status">
          Nothing matches “{typed}”.
        </p>
      )}
    </dialog>
  )
}
