import type { ComponentChildren } from 'preact'

/** A table with the names of its columns. @param isDifference whether it shows changes */
export function List(props: { heads: string[]; isDifference?: boolean; children: ComponentChildren }) {
  return (
    <table class={props.isDifference ? 'list difference' : 'list'}>
      <thead>
        <tr>
          {props.heads.map((head) => (
            <th key={head} scope="col">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{props.children}</tbody>
    </table>
  )
}
