/** A zone file that is typed, pasted, dropped, or chosen. @param props.rows the least height, in lines */
export function ZonefileInput(props: { label: string; rows: number; text: string; onText: (text: string) => void }) {
  const take = async (file: File | undefined) => {
    if (file !== undefined) props.onText(await file.text())
  }
  return (
    <div class="field">
      <label for="zonefile">{props.label}</label>
      <textarea
        id="zonefile"
        rows={Math.max(props.rows, Math.min(24, props.text.split('\n').length))}
        spellcheck={false}
        wrap="off"
        value={props.text}
        onInput={(event) => {
          props.onText(event.currentTarget.value)
        }}
        onDragOver={(event) => {
          event.preventDefault()
        }}
        onDrop={(event) => {
          const file = event.dataTransfer?.files[0]
          if (file === undefined) return
          event.preventDefault()
          void take(file)
        }}
      />
      <label class="quiet">
        or from a file{' '}
        <input
          type="file"
          onChange={(event) => {
            void take(event.currentTarget.files?.[0])
          }}
        />
      </label>
    </div>
  )
}
