import type { VNode } from 'preact'
import { InlineCommand } from './command.tsx'

/** What the person has done, and the command that shows it. */
export interface Done {
  /** E.g. `Approved: Delete the Domain acme.` */
  readonly text: string
  readonly command: string
}

interface ConfirmationProps {
  readonly done: Done | undefined
  readonly onClose: () => void
}

/** Names the last decision until it is closed or another view is opened. It is always in the page, since screen readers announce what changes in it. */
export function Confirmation({ done, onClose }: ConfirmationProps): VNode {
  return (
    <div class="confirmation" role="status">
      {done !== undefined && (
        <div class="confirmation-box">
          <p>{done.text}</p>
          <p class="small">
            See it with: <InlineCommand text={done.command} />
          </p>
          <button type="button" class="quiet" onClick={onClose}>
            Close
          </button>
        </div>
      )}
    </div>
  )
}
