import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { Approval } from '../api/operations.ts'
import type { Done } from './confirmation.tsx'
import { useConsole } from './context.ts'
import { DecisionDialog, type Decision } from './dialog.tsx'
import { Empty, Facts, Heading, LoadedView, Panel, Time } from './parts.tsx'
import { Subject } from './subject.tsx'
import { Table } from './table.tsx'
import { useRead } from './use-read.ts'

/** What waits for a decision, in all Domains of the person, and what was decided. */
export function ApprovalsView(): VNode {
  const { api, waiting } = useConsole()
  const others = useRead(
    { key: 'others', topics: ['approvals'] },
    async (signal) => (await api.call('ListApprovals', { limit: '50' }, signal)).items,
  )
  return (
    <>
      <Heading note="In all of your Domains">Approvals</Heading>
      <Panel title="To decide">
        <LoadedView of={waiting.approvals}>{(rows) => <Requests rows={rows} />}</LoadedView>
      </Panel>
      <Panel title="All requests" hint="That you made, may decide or may see; the newest 50">
        <LoadedView of={others}>
          {(rows) =>
            rows.length === 0 ? (
              <Empty command="ctl approvals policy show">No request has been made that waits for approval.</Empty>
            ) : (
              <Table caption="Requests, the newest first" columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />
            )
          }
        </LoadedView>
      </Panel>
    </>
  )
}

const STATES: Readonly<Record<Approval['state'], string>> = {
  'pending-approval': 'waits',
  approved: 'approved',
  rejected: 'rejected',
  withdrawn: 'withdrawn',
  expired: 'expired',
  failed: 'failed',
}

const stateText = ({ state, outcome, decisions }: Approval): string => {
  const reason = decisions.at(-1)?.reason
  const why = outcome ?? reason
  return why === undefined ? STATES[state] : `${STATES[state]}: ${why}`
}

/** A request that has ended, as a sentence. One that waits has the approval of this person already. */
function outcomeText(approval: Approval): string {
  return approval.state === 'pending-approval'
    ? 'You have approved this request already; it waits for another person.'
    : `The request is ${stateText(approval)}.`
}

/** What approving does, with names. A server of an earlier version has the sentence with ids alone. */
function sentenceOf({ action }: Approval): string {
  const { sentence, summary }: { readonly sentence?: string; readonly summary: string } = action
  return sentence ?? summary
}

const Requester = ({
  approval: { requested_by: by, requested_by_name: name },
}: {
  readonly approval: Approval
}): VNode => <Subject subject={by} name={name} />

const COLUMNS = [
  { head: 'What', cell: sentenceOf },
  { head: 'State', cell: stateText },
  { head: 'Requested by', cell: (approval: Approval) => <Requester approval={approval} /> },
  { head: 'Requested', cell: ({ requested_at: at }: Approval) => <Time at={at} /> },
]

/** The dialog stays where its request is decided by another person and leaves the list. */
function Requests({ rows }: { readonly rows: readonly Approval[] }): VNode {
  const [decision, setDecision] = useState<Decision | undefined>(undefined)
  return (
    <>
      {rows.length === 0 ? (
        <Empty>Nothing waits for your decision.</Empty>
      ) : (
        <ul class="requests">
          {rows.map((approval) => (
            <Request key={approval.id} approval={approval} onDecide={setDecision} />
          ))}
        </ul>
      )}
      {decision !== undefined && <DecisionDialog decision={decision} onClose={() => setDecision(undefined)} />}
    </>
  )
}

/** What became of the request by the decision. */
function doneOf(approval: Approval): Done {
  return { text: `${decidedText(approval)}: ${sentenceOf(approval)}`, command: `ctl approvals show ${approval.id}` }
}

function decidedText({ state, outcome }: Approval): string {
  if (state === 'pending-approval') return 'Your approval is recorded, and the request waits for another person'
  if (state === 'failed') return `Approved, but it failed (${outcome ?? 'for an unknown cause'})`
  return state === 'rejected' ? 'Rejected' : 'Approved'
}

interface RequestProps {
  readonly approval: Approval
  readonly onDecide: (decision: Decision) => void
}

function Request({ approval, onDecide }: RequestProps): VNode {
  const { api, domains } = useConsole()
  const { id, action, decisions, required_approvals: required } = approval
  const name = domains.find((domain) => domain.id === approval.domain_id)?.display_name
  const sentence = sentenceOf(approval)
  const ids = action.summary === sentence ? undefined : <code>{action.summary}</code>
  const about = (
    <>
      <p>{sentence}</p>
      <Facts
        facts={[
          ['Requested by', <Requester approval={approval} />],
          ['Domain', name],
          ['Reason', approval.reason],
          ['With ids', ids],
        ]}
      />
    </>
  )
  const readOutcome = async (): Promise<string> => outcomeText(await api.call('GetApproval', { id }))
  const given = decisions.filter(({ decision }) => decision === 'approve').length
  const approve = (): void =>
    onDecide({
      verb: 'Approve',
      title: 'Approve this request?',
      about,
      reasonLabel: 'Reason (may be left empty)',
      isReasonRequired: false,
      decide: async (reason) =>
        doneOf(await api.call('ApproveApproval', { id, body: reason === '' ? {} : { reason } })),
      readOutcome,
    })
  const reject = (): void =>
    onDecide({
      verb: 'Reject',
      title: 'Reject this request?',
      about,
      reasonLabel: 'Reason, which the requester reads',
      isReasonRequired: true,
      decide: async (reason) => doneOf(await api.call('RejectApproval', { id, body: { reason } })),
      readOutcome,
    })
  return (
    <li>
      <h3 id={`request-${id}`}>{sentence}</h3>
      <Facts
        facts={[
          ['Requested by', <Requester approval={approval} />],
          ['Requested', <Time at={approval.requested_at} />],
          ['Expires', <Time at={approval.expires_at} />],
          ['Domain', name],
          ['Reason', approval.reason],
          ['Approvals', required === 1 ? undefined : `${given} of ${required}`],
        ]}
      />
      <p class="row">
        <button type="button" class="primary" aria-describedby={`request-${id}`} onClick={approve}>
          Approve
        </button>
        <button type="button" class="quiet" aria-describedby={`request-${id}`} onClick={reject}>
          Reject
        </button>
      </p>
    </li>
  )
}
