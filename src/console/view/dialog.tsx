import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Failure } from '../api/failure.ts'
import { useConsole } from './context.ts'
import { Field, Problem } from './parts.tsx'
import { StrongerSignIn } from './stronger-sign-in.tsx'

/** A decision that a person is about to take. */
export interface Decision {
  /** What the button does, e.g. `Approve`. */
  readonly verb: string
  /** The question, as the heading of the dialog. */
  readonly title: string
  /** What it is about. */
  readonly about: ComponentChildren
  readonly reasonLabel: string
  readonly isReasonRequired: boolean
  /** Carries it out; rejects with a `Failure` that the dialog shows. */
  readonly decide: (reason: string) => Promise<unknown>
  /** What is announced afterwards. */
  readonly done: string
}

interface DialogProps {
  readonly decision: Decision
  readonly onClose: () => void
}

const REASON_MAX = 1_024

/** Asks for a confirmation and a reason, then decides once. */
export function DecisionDialog({ decision, onClose }: DialogProps): VNode {
  const dialog = useRef<HTMLDialogElement>(null)
  const [reason, setReason] = useState('')
  useEffect(() => dialog.current?.showModal(), [])
  const { isBusy, failure, submit } = useDecision(decision, onClose)
  return (
    <dialog ref={dialog} aria-labelledby="decision" onClose={onClose}>
      <form
        method="dialog"
        onSubmit={(event) => {
          event.preventDefault()
          submit(reason.trim())
        }}
      >
        <h2 id="decision">{decision.title}</h2>
        {decision.about}
        <Field id="decision-reason" label={decision.reasonLabel}>
          <textarea
            id="decision-reason"
            rows={3}
            maxLength={REASON_MAX}
            required={decision.isReasonRequired}
            value={reason}
            onInput={({ currentTarget }) => setReason(currentTarget.value)}
          />
        </Field>
        {failure !== undefined && <Refusal failure={failure} />}
        <p class="row">
          <button class="primary" disabled={isBusy}>
            {decision.verb}
          </button>
          <button type="button" class="quiet" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
        </p>
      </form>
    </dialog>
  )
}

interface Deciding {
  readonly isBusy: boolean
  readonly failure: Failure | undefined
  readonly submit: (reason: string) => void
}

function useDecision(decision: Decision, onClose: () => void): Deciding {
  const { announce, refresh } = useConsole()
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState<Failure | undefined>(undefined)
  const submit = async (reason: string): Promise<void> => {
    if (isBusy) return
    setBusy(true)
    setFailure(undefined)
    try {
      await decision.decide(reason)
      announce(decision.done)
      onClose()
      refresh()
    } catch (error) {
      setFailure(error instanceof Failure ? error : new Failure(0, { detail: 'The decision could not be sent.' }))
      setBusy(false)
    }
  }
  return { isBusy, failure, submit: (reason) => void submit(reason) }
}

function Refusal({ failure }: { readonly failure: Failure }): VNode {
  return failure.body.code === 'step_up_required' ? <StrongerSignIn failure={failure} /> : <Problem failure={failure} />
}
