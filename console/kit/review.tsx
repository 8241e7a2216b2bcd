import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { WHY } from '../api/client.ts'
import { Difference } from '../rrsets/difference.tsx'
import type { Change } from '../rrsets/rrset.ts'
import { sayWhy, why } from '../why.ts'
import { Field, Refusal, useAction } from './form.tsx'
import { Loaded, useAsked } from './loading.tsx'
import { Waiting } from './waiting.tsx'

interface ReviewProps {
  title: string
  /** What the main button says; default: Apply. */
  verb?: string
  /** Asks the API for a dry run. */
  preview: () => Promise<Change[]>
  /** Sends the write. What it throws is shown. */
  apply: () => Promise<unknown>
  /** Called when the reason is typed. */
  onWhy?: () => void
  /** Called when the user leaves without applying. */
  onClose: () => void
  /** Shown below the difference. */
  children?: ComponentChildren
  /** The buttons after those of the review. */
  others?: ComponentChildren
}

/** Shows what a write would change, before it is applied. */
export function Review({ title, verb = 'Apply', preview, apply, onWhy, onClose, children, others }: ReviewProps) {
  const asked = useAsked(preview, [])
  const action = useAction()
  const mayApply = asked.value !== undefined && asked.value.length > 0 && !action.isBusy
  const applyAll = () => {
    action.run(apply)
  }
  return (
    <Dialog title={title} onClose={onClose} onEnter={mayApply ? applyAll : undefined}>
      <Loaded asked={asked}>
        {(changes) => (
          <>
            <Difference changes={changes} />
            {changes.some(({ subname, type }) => subname === '' && type === 'NS') && (
              <p class="note">This changes the nameservers of the domain.</p>
            )}
          </>
        )}
      </Loaded>
      {children}
      <Why onText={onWhy} />
      <Refusal of={action} />
      <p class="buttons">
        <button class="main" disabled={!mayApply} onClick={applyAll}>
          {verb} <kbd aria-hidden="true">Ctrl ↵</kbd>
        </button>
        <button onClick={onClose}>Cancel</button>
        {others}
      </p>
    </Dialog>
  )
}

/** Asks why a write is made. */
export function Why({ onText }: { onText?: (() => void) | undefined }) {
  const [text, setText] = useState(why())
  return (
    <Field
      label={WHY}
      value={text}
      onText={(typed) => {
        sayWhy(typed)
        setText(typed)
        onText?.()
      }}
      autocomplete="off"
      maxLength={500}
    />
  )
}

interface DialogProps {
  title: string
  onClose: () => void
  /** Called at Ctrl Enter. */
  onEnter?: (() => void) | undefined
  children: ComponentChildren
}

/** A modal dialog, with its title as heading. Escape closes it. */
export function Dialog(props: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    element.current!.showModal()
    // What had the focus may be gone when the dialog is.
    return () => {
      if (document.activeElement === document.body)
        document.querySelector<HTMLElement>('h1')!.focus({ preventScroll: true })
    }
  }, [])
  return (
    <dialog
      ref={element}
      aria-labelledby="dialog-title"
      onClose={props.onClose}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !event.ctrlKey) return
        event.preventDefault()
        event.stopPropagation()
        props.onEnter?.()
      }}
    >
      <h2 id="dialog-title" tabIndex={-1} autofocus>
        {props.title}
      </h2>
      {/* The one of the page is inert behind the dialog. */}
      <Waiting />
      {props.children}
    </dialog>
  )
}
