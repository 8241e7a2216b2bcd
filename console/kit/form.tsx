import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import { problemsOf, type Refused } from '../api/client.ts'
import { Failure, refusedBy } from './loading.tsx'

interface FieldProps {
  label: string
  value: string
  /** Called with the text as it is typed. */
  onText: (text: string) => void
  hint?: ComponentChildren
  /** What follows the text, in the same line. */
  suffix?: string
  problems?: string[]
  type?: 'text' | 'email' | 'password' | 'number'
  inputMode?: 'numeric'
  autocomplete?: 'off' | 'username' | 'current-password' | 'new-password' | 'one-time-code'
  required?: boolean
  maxLength?: number
  /** Whether the page begins with it. */
  autofocus?: boolean
  /** The height, in lines, of a field of several lines. */
  rows?: number
}

/** A labelled input, with a hint and the problems of its text. */
export function Field({ label, hint, suffix, problems = [], onText, type, ...input }: FieldProps) {
  const id = useId()
  // A textarea has what is used of an input here.
  const Input = (input.rows === undefined ? 'input' : 'textarea') as 'input'
  const described = [
    suffix && `${id}-suffix`,
    hint !== undefined && `${id}-hint`,
    problems.length > 0 && `${id}-problem`,
  ]
    .filter(Boolean)
    .join(' ')
  const typed = (
    <Input
      {...input}
      id={id}
      // The types of Preact tell apart what inputs of each type may have; these have the same.
      {...({ type } as object)}
      autocapitalize="none"
      spellcheck={false}
      aria-invalid={problems.length > 0}
      aria-describedby={described === '' ? undefined : described}
      onInput={(event) => {
        onText(event.currentTarget.value)
      }}
    />
  )
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {suffix === undefined ? (
        typed
      ) : (
        <span class="suffixed">
          {typed}
          <span class="mono quiet" id={`${id}-suffix`}>
            {suffix}
          </span>
        </span>
      )}
      {hint !== undefined && (
        <p class="quiet" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {problems.length > 0 && (
        <p class="problem" id={`${id}-problem`}>
          {problems.join(' ')}
        </p>
      )}
    </div>
  )
}

/** Puts the focus where a page begins: on the field that says so, otherwise on the heading, for those who listen. */
export function focusFirst(): void {
  const first = document.querySelector<HTMLElement>('[autofocus]') ?? document.querySelector<HTMLElement>('h1')
  first?.focus({ preventScroll: true })
}

/** The input of a code of a second factor. */
export function Code(field: Pick<FieldProps, 'value' | 'onText' | 'hint' | 'problems' | 'required'>) {
  return <Field required {...field} label="Code" inputMode="numeric" autocomplete="one-time-code" />
}

interface CheckboxProps {
  label: string
  checked: boolean
  onCheck: (isChecked: boolean) => void
}

/** A checkbox with its label. */
export function Checkbox({ label, checked, onCheck }: CheckboxProps) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={checked}
        onChange={(event) => {
          onCheck(event.currentTarget.checked)
        }}
      />
      {label}
    </label>
  )
}

/** An action that is under way, or has failed. */
export interface Action {
  isBusy: boolean
  refused: Refused | undefined
  /** The problems of one field. */
  of: (field: string) => string[]
  /** Runs the action; a second call while one is under way does nothing. */
  run: (work: () => Promise<unknown>) => void
  /** Forgets why it failed, when that may be mended. */
  forget: () => void
}

/** Says why an action was refused, if it was. */
export function Refusal({ of: { refused } }: { of: Action }) {
  return refused && <Failure problem={refused} />
}

interface ActProps {
  action: Action
  work: () => Promise<unknown>
  class?: string
  'aria-label'?: string
  children: ComponentChildren
}

/** A button that runs an action. */
export function Act({ action, work, ...button }: ActProps) {
  return (
    <button
      {...button}
      disabled={action.isBusy}
      onClick={() => {
        action.run(work)
      }}
    />
  )
}

/** Keeps the state of an action that a form or a button starts. */
export function useAction(): Action {
  const [isBusy, setBusy] = useState(false)
  const [refused, setRefused] = useState<Refused>()
  const run = (work: () => Promise<unknown>) => {
    if (isBusy) return
    setBusy(true)
    setRefused(undefined)
    work()
      .catch((reason: unknown) => {
        setRefused(refusedBy(reason))
      })
      .finally(() => {
        setBusy(false)
      })
  }
  const forget = () => {
    setRefused(undefined)
  }
  return { isBusy, refused, of: (field) => problemsOf(refused, field), run, forget }
}

interface FormProps {
  action: Action
  /** The fields whose problems are shown beside them; other problems are shown above the button. */
  fields?: string[]
  submit: string
  /** False while the button shall not work yet. */
  isReady?: boolean
  /** True if the action cannot be undone. */
  isDangerous?: boolean
  onSubmit: () => Promise<unknown>
  /** Of a form in a dialog: closes it. */
  onCancel?: (() => void) | undefined
  children: ComponentChildren
}

/** A form with one button, and perhaps one that cancels. Its problems are shown, and what was typed stays. */
export function Form(props: FormProps) {
  const { action, fields = [], submit, isReady = true, isDangerous, onSubmit, onCancel, children } = props
  const isShown = fields.some((field) => action.of(field).length > 0)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        action.run(onSubmit)
      }}
    >
      {children}
      {action.refused !== undefined && !isShown && <Failure problem={action.refused} />}
      <button class={isDangerous === true ? 'danger' : 'main'} disabled={action.isBusy || !isReady}>
        {submit}
      </button>
      {onCancel && (
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      )}
    </form>
  )
}
