import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { Violation } from '../api/operations.ts'
import { numberText, shortened } from '../model/format.ts'
import { kindText, violationText } from '../model/violation.ts'
import { useConsole } from './context.ts'
import { DecisionDialog, type Decision } from './dialog.tsx'
import { Empty, NodeLink, Time } from './parts.tsx'
import { Subject } from './subject.tsx'
import { Table } from './table.tsx'

interface ViolationTableProps {
  readonly rows: readonly Violation[]
  /** Shown where there are no rows. */
  readonly none: string
  /** Whether the view is of the node itself. */
  readonly isOfOneNode?: boolean
  /** Rows that the server does not list any more, by their ids. */
  readonly gone?: ReadonlySet<string>
  /** Called with the id of a violation that the person has acknowledged. */
  readonly onAcknowledged?: (id: string) => void
}

/**
 * Violations with what was decided about them, and the button that acknowledges an open one. The dialog stays where another person
 * acknowledges its violation, which leaves the list.
 */
export function ViolationTable({
  rows,
  none,
  isOfOneNode = false,
  gone = NONE_GONE,
  onAcknowledged,
}: ViolationTableProps): VNode {
  const { api, domain } = useConsole()
  const [decision, setDecision] = useState<Decision | undefined>(undefined)
  const acknowledge = (violation: Violation): void =>
    setDecision({
      verb: 'Acknowledge',
      title: 'Acknowledge this violation?',
      about: <About violation={violation} />,
      reasonLabel: 'What was found and done',
      isReasonRequired: true,
      decide: async (reason) => {
        const { id } = violation
        await api.call('AcknowledgeDomainIntegrityViolation', { domain_id: domain.id, id, body: { reason } })
        onAcknowledged?.(id)
        return {
          text: `Acknowledged: ${violationText(violation)}`,
          command: `ctl violations show ${id} --domain ${domain.slug}`,
        }
      },
      readOutcome: async () => 'Another person has acknowledged the violation, or it is resolved.',
    })
  const columns = [
    { head: 'Node', cell: nodeOf },
    {
      head: 'What',
      cell: ({ kind, artifact }: Violation) => (
        <>
          <span>{kindText(kind)}</span> <code>{artifact}</code>
        </>
      ),
    },
    { head: 'Seen last', cell: ({ last_detected_at: last, detected_at: at }: Violation) => <Time at={last ?? at} /> },
    { head: 'Reports', cell: ({ occurrences }: Violation) => numberText(occurrences ?? 1), isNumber: true as const },
    {
      head: 'Status',
      cell: (violation: Violation) =>
        gone.has(violation.id) ? (
          <span class="muted">changed since: not in this list any more</span>
        ) : (
          <Status violation={violation} onAcknowledge={acknowledge} />
        ),
    },
  ]
  return (
    <>
      {rows.length === 0 ? (
        <Empty>{none}</Empty>
      ) : (
        <Table
          caption="Violations, the newest first"
          columns={isOfOneNode ? columns.slice(1) : columns}
          rows={rows}
          keyOf={({ id }) => id}
        />
      )}
      {decision !== undefined && <DecisionDialog decision={decision} onClose={() => setDecision(undefined)} />}
    </>
  )
}

const NONE_GONE: ReadonlySet<string> = new Set()

function nodeOf({ node_id: id, node_name: name }: Violation): VNode {
  return name === null || name === undefined ? (
    <span class="muted">a node that left</span>
  ) : (
    <NodeLink id={id} name={name} />
  )
}

interface StatusProps {
  readonly violation: Violation
  readonly onAcknowledge: (violation: Violation) => void
}

function Status({ violation, onAcknowledge }: StatusProps): VNode {
  const { status, artifact, node_name: node, acknowledged_by_subject: by, acknowledge_reason: reason } = violation
  if (status === 'open')
    return (
      <button
        type="button"
        class="quiet"
        aria-label={`Acknowledge ${artifact ?? 'this'} on ${node ?? 'the node'}`}
        onClick={() => onAcknowledge(violation)}
      >
        Acknowledge
      </button>
    )
  if (by === null || by === undefined) return <>{status}</>
  return (
    <>
      {status === 'resolved' && 'resolved; '}acknowledged by <Subject subject={by} />: {reason}
    </>
  )
}

function About({
  violation: { kind, artifact, node_name: node, expected_checksum: expected, observed_checksum: observed },
}: {
  readonly violation: Violation
}): VNode {
  return (
    <>
      <p>
        {kindText(kind)} <code>{artifact}</code> on {node ?? 'a node that left'} is not what is expected. Acknowledging
        says that you have looked at it; the violation is resolved once the node reports the expected checksum.
      </p>
      <p class="small muted">
        Expected <code>{expected === null || expected === undefined ? 'unknown' : shortened(expected)}</code>, found{' '}
        <code>{observed === null || observed === undefined ? 'unknown' : shortened(observed)}</code>
      </p>
    </>
  )
}
