import type { ComponentChildren, VNode } from 'preact'

/** A column of a table. */
export interface Column<Row> {
  readonly head: string
  readonly cell: (row: Row) => ComponentChildren
  readonly isNumber?: true
}

interface TableProps<Row> {
  /** What the table has, for people who listen to it. */
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
}

/**
 * A table that becomes a list of cards where the page is narrow. The roles are written out, since browsers take them from a table that
 * is laid out as blocks.
 */
export function Table<Row>({ caption, columns, rows, keyOf }: TableProps<Row>): VNode {
  return (
    <table role="table">
      <caption class="unseen">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ head, isNumber }) => (
            <th key={head} role="columnheader" scope="col" class={isNumber && 'number'}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={keyOf(row)} role="row">
            {columns.map(({ head, cell, isNumber }) => (
              <td key={head} role="cell" data-head={head} class={isNumber && 'number'}>
                <span>{cell(row)}</span>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
