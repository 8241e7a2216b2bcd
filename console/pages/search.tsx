import { useEffect, useState } from 'preact/hooks'
import { searchRRsets } from '../api/rrsets.ts'
import { List } from '../kit/list.tsx'
import { Loaded, useMore } from '../kit/loading.tsx'
import { location, navigate } from '../router.ts'
import { contentOf } from '../rrsets/fields.ts'
import { inOrder } from '../rrsets/order.ts'
import { shownName } from '../rrsets/rrset.ts'
import { TypeBadge } from '../rrsets/type-badge.tsx'

const queryOf = (parameters: Record<string, string>) => new URLSearchParams(parameters).toString()

/** Finds records in all domains of the account: which of them have this address, and what a name has. */
export function SearchPage() {
  const asked = location.value.query.get('text') ?? ''
  const [text, setText] = useState(asked)
  useEffect(() => {
    setText(asked)
  }, [asked])
  return (
    <>
      <h1 tabIndex={-1}>Search records</h1>
      <p>
        Finds in all domains the records with exactly this content, as they show it, and those of exactly this name. A
        name needs no final dot.
      </p>
      <form
        class="tools"
        role="search"
        onSubmit={(event) => {
          event.preventDefault()
          navigate(`search?${queryOf({ text: text.trim() })}`)
        }}
      >
        <input
          type="search"
          aria-label="Content or name"
          autofocus
          placeholder="192.0.2.1, 10 mail.example.org., www.example.org"
          value={text}
          required
          onInput={(event) => {
            setText(event.currentTarget.value)
          }}
        />
        <button class="main">Search</button>
      </form>
      {asked !== '' && (
        <>
          <Results key={`content ${asked}`} title="With this content" parameter="content" text={contentOf(asked)} />
          <Results key={`name ${asked}`} title="Of this name" parameter="name" text={asked} />
        </>
      )}
    </>
  )
}

function Results({ title, parameter, text }: { title: string; parameter: 'content' | 'name'; text: string }) {
  const asked = useMore((cursor) => searchRRsets(cursor, { [parameter]: text }), [text])
  return (
    <section aria-labelledby={parameter}>
      <h2 id={parameter}>{title}</h2>
      <Loaded asked={asked}>
        {(rrsets) =>
          rrsets.length === 0 ? (
            <p role="status">
              {parameter === 'content' ? 'No record set has a record ' : 'There are no records at '}
              <b class="mono">{text}</b>
            </p>
          ) : (
            <List heads={['Name', 'Type', 'Records']}>
              {inOrder(rrsets, ({ name, type }) => ({ subname: name, type })).map(
                ({ domain, subname, name, type, records }) => (
                  <tr key={`${name} ${type}`}>
                    <td class="mono">
                      <a href={`domains/${domain}?${queryOf({ filter: `name:${shownName(subname)} type:${type}` })}`}>
                        {name}
                      </a>
                    </td>
                    <td>
                      <TypeBadge type={type} />
                    </td>
                    <td class="mono">
                      <ul class="lines">
                        {records.map((record) => (
                          <li key={record}>{record}</li>
                        ))}
                      </ul>
                    </td>
                  </tr>
                ),
              )}
            </List>
          )
        }
      </Loaded>
    </section>
  )
}
