import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { shortened } from '../model/format.ts'
import { fragmentOf } from '../model/route.ts'
import { violationText } from '../model/violation.ts'
import { browserTime } from './browser-time.ts'
import { useConsole } from './context.ts'
import { useRead } from './use-read.ts'

interface ViolationLinkProps {
  readonly id: string
  /** The name that the API gave with it. */
  readonly name?: string | null | undefined
}

/** A link to a violation by its artifact and node. Events have ids alone: what the page has not read yet is read once. */
export function ViolationLink({ id, name }: ViolationLinkProps): VNode {
  const { waiting } = useConsole()
  const known = waiting.seenViolations.get(id)
  const text = name ?? (known && violationText(known))
  if (text !== undefined) return <Named id={id} text={text} />
  // Who may not list the violations may not read one either, and each try would be a denial in the audit.
  return waiting.violations.value === undefined ? <Named id={id} text={idText(id)} /> : <LookedUp id={id} />
}

/** The list of open violations is read before; among many events, most of the links are gone again by then. */
const LOOK_UP_MS = 10_000

function LookedUp({ id }: { readonly id: string }): VNode {
  const [isDue, setDue] = useState(false)
  useEffect(() => browserTime.after(LOOK_UP_MS, () => setDue(true)), [id])
  return isDue ? <Read id={id} /> : <Named id={id} text={idText(id)} />
}

function Read({ id }: { readonly id: string }): VNode {
  const { api, domain } = useConsole()
  const { value } = useRead({ key: id, topics: [] }, (signal) =>
    api.call('GetDomainIntegrityViolation', { domain_id: domain.id, id }, signal),
  )
  return <Named id={id} text={value === undefined ? idText(id) : violationText(value)} />
}

const idText = (id: string): string => `violation ${shortened(id)}`

function Named({ id, text }: { readonly id: string; readonly text: string }): VNode {
  const { domain } = useConsole()
  return (
    <a href={fragmentOf({ domain: domain.slug, view: 'violations', filters: { violation: id } })} title={id}>
      {text}
    </a>
  )
}
