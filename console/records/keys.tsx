const KEYS = [
  ['/', 'filter'],
  ['n', 'add'],
  ['↑ ↓', 'go to another row'],
  ['e', 'edit the row'],
  ['Delete', 'stage its deletion'],
  ['Shift+Space', 'on a checkbox: select the rows between, too'],
  ['Ctrl+Enter', 'review'],
  ['Esc', 'leave'],
] as const

interface KeysProps {
  /** Whether letters act. */
  isOn: boolean
  onSwitch: (isOn: boolean) => void
}

/** Shows the keys. Those of one character can be switched off, for people whose tools type letters (WCAG 2.1.4). */
export function Keys({ isOn, onSwitch }: KeysProps) {
  return (
    <details class="keys quiet">
      <summary>Keys</summary>
      <ul>
        {KEYS.map(([key, what]) => (
          <li key={key}>
            <kbd>{key}</kbd> {what}
          </li>
        ))}
        <li>
          <label>
            <input
              type="checkbox"
              checked={isOn}
              onChange={(event) => {
                onSwitch(event.currentTarget.checked)
              }}
            />{' '}
            Keys of one character
          </label>
        </li>
      </ul>
    </details>
  )
}
