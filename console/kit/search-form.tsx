import { useEffect, useState } from 'preact/hooks'

interface Props {
  label: string
  placeholder: string
  /** What the page shows now; empty: all. */
  asked: string
  onSearch: (search: string) => void
}

/** A field for what entries are to be found by. */
export function SearchForm({ label, placeholder, asked, onSearch }: Props) {
  const [text, setText] = useState(asked)
  useEffect(() => {
    setText(asked)
  }, [asked])
  return (
    <form
      class="tools"
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        onSearch(text.trim())
      }}
    >
      <input
        type="search"
        size={32}
        aria-label={label}
        placeholder={placeholder}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value)
          // The cross in it empties it.
          if (event.currentTarget.value === '') onSearch('')
        }}
      />
      <button>Search</button>
    </form>
  )
}
