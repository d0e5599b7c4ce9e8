import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { Table, type TableProps } from './table.tsx'

const PAGE = 100

/** A table of many rows: 100 of them, and a button for more. */
export function LongTable<Row>({ rows, ...props }: TableProps<Row>): VNode {
  const [shown, setShown] = useState(PAGE)
  return (
    <>
      <Table {...props} rows={rows.slice(0, shown)} />
      {rows.length > shown && (
        <p class="row">
          <button type="button" class="quiet" onClick={() => setShown(shown + PAGE)}>
            Show more
          </button>
        </p>
      )}
    </>
  )
}
