/** A choice of views of a list, of which one is shown. */
export interface Chip {
  /** Its word in the page's address. */
  view: string
  text: string
  /** How many it shows, such as `2` or `500+`; none: it is not said. */
  count?: number | string
}

/** @param label what the chips choose from */
export function Chips(props: { label: string; chips: Chip[]; chosen: string; onChoose: (view: string) => void }) {
  return (
    <div class="chips" role="group" aria-label={props.label}>
      {props.chips.map(({ view, text, count }) => (
        <button
          key={view}
          class="chip"
          aria-pressed={view === props.chosen}
          onClick={() => {
            props.onChoose(view)
          }}
        >
          {count === undefined ? text : `${text} · ${count}`}
        </button>
      ))}
    </div>
  )
}
