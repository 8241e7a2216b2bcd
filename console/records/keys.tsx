const KEYS = [
  ['/', 'filter'],
  ['n', 'add'],
  ['↑ ↓', 'go to another row'],
  ['e', 'edit the row'],
  ['Delete', 'stage its deletion'],
  ['Shift+Space', 'on a checkbox: select the rows between, too'],
  ['Ctrl+Enter', 'review'],
  ['Esc', 'cancel'],
] as const

/** How the keyboard was left, until the page is loaded again: whether letters act, and whether the keys are shown. */
export const keyboard = { hasLetters: true, isShown: false }

/** Shows the keys. Those of one character can be switched off, for people whose tools type letters (WCAG 2.1.4). */
export function Keys() {
  return (
    <details
      class="keys quiet"
      open={keyboard.isShown}
      onToggle={({ currentTarget }) => {
        keyboard.isShown = currentTarget.open
      }}
    >
      <summary>Keyboard</summary>
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
              checked={keyboard.hasLetters}
              onChange={({ currentTarget }) => {
                keyboard.hasLetters = currentTarget.checked
              }}
            />{' '}
            Letters act as keys
          </label>
        </li>
      </ul>
    </details>
  )
}
