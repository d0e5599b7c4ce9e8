import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Failure } from '../api/failure.ts'
import type { Done } from './confirmation.tsx'
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
  /** Carries it out, and resolves with what was done; rejects with a `Failure` that the dialog shows. */
  readonly decide: (reason: string) => Promise<Done>
  /** What became of it, where another person was first. */
  readonly readOutcome: () => Promise<string>
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
  const close = (): void => dialog.current?.close()
  const { isBusy, failure, outcome, submit } = useDecision(decision, () => {
    close()
    // What was decided about goes from the view, and the button that had the focus with it. A modal dialog holds the focus until it is closed.
    document.getElementById('view')?.focus()
  })
  if (outcome !== undefined)
    return (
      <dialog ref={dialog} aria-labelledby="decision" onClose={onClose}>
        <Overtaken outcome={outcome} onClose={close} />
      </dialog>
    )
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
          <button type="button" class="quiet" onClick={close}>
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
  /** Set where another person was first. */
  readonly outcome: string | undefined
  readonly submit: (reason: string) => void
}

function useDecision(decision: Decision, onDone: () => void): Deciding {
  const { confirm, refresh } = useConsole()
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState<Failure | undefined>(undefined)
  const [outcome, setOutcome] = useState<string | undefined>(undefined)
  const fail = async (error: Failure): Promise<void> => {
    if (error.body.code !== 'illegal_transition') return setFailure(error)
    try {
      setOutcome(await decision.readOutcome())
    } catch {
      setOutcome('Another person has decided.')
    }
    refresh()
  }
  const submit = async (reason: string): Promise<void> => {
    if (isBusy) return
    setBusy(true)
    setFailure(undefined)
    try {
      confirm(await decision.decide(reason))
      onDone()
      refresh()
    } catch (error) {
      await fail(error instanceof Failure ? error : new Failure(0, { detail: 'The decision could not be sent.' }))
      setBusy(false)
    }
  }
  return { isBusy, failure, outcome, submit: (reason) => void submit(reason) }
}

/** Another person decided while the dialog was open. */
function Overtaken({ outcome, onClose }: { readonly outcome: string; readonly onClose: () => void }): VNode {
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => button.current?.focus(), [])
  return (
    <>
      <h2 id="decision">This was decided meanwhile</h2>
      <p role="alert">{outcome} Your decision was not needed, and changed nothing.</p>
      <p class="row">
        <button ref={button} type="button" class="primary" onClick={onClose}>
          Close
        </button>
      </p>
    </>
  )
}

function Refusal({ failure }: { readonly failure: Failure }): VNode {
  return failure.body.code === 'step_up_required' ? <StrongerSignIn failure={failure} /> : <Problem failure={failure} />
}
