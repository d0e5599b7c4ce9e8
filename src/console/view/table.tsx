import type { ComponentChildren, VNode } from 'preact'

/** A column of a table. */
export interface Column<Row> {
  readonly head: string
  readonly cell: (row: Row) => ComponentChildren
  readonly isNumber?: true
  /** What the rows are sorted by with this column; undefined where they cannot be. */
  readonly sortKey?: string
}

/** How the rows are sorted. */
export interface Sorting {
  readonly by: string
  readonly isDescending: boolean
  /** Called with the key of the column whose head was pressed. */
  readonly onSort: (key: string) => void
}

export interface TableProps<Row> {
  /** What the table has, for people who listen to it. */
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  readonly sorting?: Sorting
}

/**
 * A table that becomes a list of cards where the page is narrow. The roles are written out, since browsers take them from a table that
 * is laid out as blocks.
 */
export function Table<Row>({ caption, columns, rows, keyOf, sorting }: TableProps<Row>): VNode {
  return (
    <table role="table" class={sorting && 'is-sorted'}>
      <caption class="unseen">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ head, isNumber, sortKey }) => (
            <th
              key={head}
              role="columnheader"
              scope="col"
              class={isNumber && 'number'}
              aria-sort={sortKey !== undefined && sorting?.by === sortKey ? orderOf(sorting) : undefined}
            >
              {sorting === undefined || sortKey === undefined ? (
                head
              ) : (
                <SortButton head={head} sortKey={sortKey} sorting={sorting} />
              )}
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

const orderOf = ({ isDescending }: Sorting) => (isDescending ? 'descending' : 'ascending')

interface SortButtonProps {
  readonly head: string
  readonly sortKey: string
  readonly sorting: Sorting
}

/** The head of a column that sorts the rows by it, and by another press the other way round. */
function SortButton({ head, sortKey, sorting }: SortButtonProps): VNode {
  const sign = sorting.isDescending ? '▼' : '▲'
  return (
    <button type="button" class="sort" onClick={() => sorting.onSort(sortKey)}>
      {head}
      <span class="sort-sign" aria-hidden="true">
        {sorting.by === sortKey ? sign : '↕'}
      </span>
    </button>
  )
}
