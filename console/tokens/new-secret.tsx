import { useEffect, useRef } from 'preact/hooks'
import type { NewToken } from '../api/tokens.ts'
import { Copy } from '../kit/copy.tsx'
import { Panel } from '../kit/panel.tsx'
import type { Policy } from './policies.ts'
import type { Preset } from './presets.ts'
import { Programs } from './programs.tsx'
import { deedsOf } from './rights.ts'
import { tokenName } from './token.tsx'

interface Props {
  preset: Preset
  token: NewToken
  place: { name: string; domain: string } | undefined
  policies: Policy[]
}

/** The secret of a new token, and how programs use it. It is in this component alone, and gone with it. */
export function NewSecret({ preset, token, place, policies }: Props) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    heading.current!.focus()
  }, [])
  return (
    <div class="reading">
      <h1 tabIndex={-1} ref={heading}>
        {tokenName(token)}
      </h1>
      <p>{deedsOf(token, policies)}</p>
      <Panel title="Copy the secret now">
        <Secret text={token.token} />
        {preset.programs.length === 0 && (
          <p>Programs send it in the header “Authorization: Token”, followed by the secret.</p>
        )}
      </Panel>
      {preset.programs.length > 0 && (
        <Panel title="Set up a program, if you use one of these">
          <Programs names={preset.programs} secret={token.token} email={token.owner} place={place} />
        </Panel>
      )}
      <p class="buttons">
        <a href={`tokens/${token.id}`}>Set when it expires, from where it may be used, and its permissions</a>
      </p>
    </div>
  )
}

/** A secret that is shown this once. */
export function Secret({ text }: { text: string }) {
  return (
    <>
      <p>It is not shown again.</p>
      <div class="snippet">
        <code class="secret">{text}</code> <Copy text={text} what="the secret" />
      </div>
    </>
  )
}
