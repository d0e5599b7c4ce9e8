import type { ComponentChildren, VNode } from 'preact'
import { useContext } from 'preact/hooks'
import type { Failure } from '../api/failure.ts'
import type { ReachabilityState } from '../api/operations.ts'
import { fragmentOf } from '../model/route.ts'
import { relative } from '../model/format.ts'
import { Command } from './command.tsx'
import { ConsoleContext, useConsole } from './context.ts'
import type { Loaded } from './use-load.ts'

const WORDS: Readonly<Record<ReachabilityState, string>> = {
  healthy: 'Healthy',
  stale: 'Stale',
  unreachable: 'Unreachable',
  never_reported: 'Never reported',
}

export const stateWord = (state: ReachabilityState): string => WORDS[state]

/** The sign of a state: each has a shape of its own besides its colour. */
export function StateShape({ state }: { readonly state: ReachabilityState }): VNode {
  const shape = {
    healthy: <circle cx="6" cy="6" r="5" />,
    stale: <path d="M6 .5 11.8 11H.2Z" />,
    unreachable: <rect x="1" y="1" width="10" height="10" />,
    never_reported: <circle cx="6" cy="6" r="4" fill="none" stroke-width="2" />,
  }[state]
  return (
    <svg class={`shape is-${state}`} viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
      {shape}
    </svg>
  )
}

export function State({ state }: { readonly state: ReachabilityState }): VNode {
  return (
    <span class="state">
      <StateShape state={state} />
      {stateWord(state)}
    </span>
  )
}

interface TimeProps {
  readonly at: string | null | undefined
  /** Whether it has passed: the clock of the page is up to ten seconds behind an answer. */
  readonly isPast?: true
}

/** An instant as a distance; the whole instant is its title. */
export function Time({ at, isPast }: TimeProps): VNode {
  const { nowMs } = useConsole()
  if (at === null || at === undefined) return <span class="muted">never</span>
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {relative(at, isPast ? Math.max(nowMs, Date.parse(at)) : nowMs)}
    </time>
  )
}

/** A link to a node by its name. */
export function NodeLink({ id, name }: { readonly id: string; readonly name: string }): VNode {
  const { domain } = useConsole()
  return <a href={fragmentOf({ domain: domain.slug, view: 'nodes', id })}>{name}</a>
}

interface PanelProps {
  readonly title: string
  readonly hint?: string | undefined
  readonly children: ComponentChildren
}

/** A part of a view with its heading. */
export function Panel({ title, hint, children }: PanelProps): VNode {
  const id = `panel-${title.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`
  return (
    <section class="card" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {hint !== undefined && <p class="muted hint">{hint}</p>}
      {children}
    </section>
  )
}

interface ProblemProps {
  readonly failure: Failure | undefined
  readonly retry?: (() => void) | undefined
  /** What was asked for, e.g. `the nodes`; the view where it is absent. */
  readonly what?: string | undefined
}

/** What a refused or failed question says, and how to ask again. A part that a person may not see says why. */
export function Problem({ failure, retry, what }: ProblemProps): VNode | null {
  if (failure === undefined) return null
  const { correlation_id: correlationId } = failure.body
  if (failure.status === 403) return <Denied failure={failure} />
  return (
    <div class="failure" role="alert">
      <p>{failure.message}</p>
      {correlationId !== undefined && (
        <p class="small">
          Correlation id: <code>{correlationId}</code>
        </p>
      )}
      {retry !== undefined && <RetryButton retry={retry} what={what} />}
    </div>
  )
}

/** Asks again, and names what for: a page may have several of these. */
function RetryButton({ retry, what }: { readonly retry: () => void; readonly what: string | undefined }): VNode {
  const view = useContext(ConsoleContext)?.route.view ?? 'page'
  return (
    <button type="button" class="quiet" onClick={retry}>
      Try to read {what ?? `the ${view}`} again
    </button>
  )
}

/** What a person may not see, and the command by which an administrator changes that. */
function Denied({ failure: { body, message } }: { readonly failure: Failure }): VNode {
  const console = useContext(ConsoleContext)
  const missing = body.missing_relation
  if (console === undefined || missing === undefined) return <p class="notice">{message}</p>
  const { domain, me } = console
  const object = missing.object === `domain:${domain.id}` ? `domain:${domain.slug}` : missing.object
  return (
    <div class="notice">
      <p>
        You do not see this, since you do not hold <code>{missing.relation}</code> on {object}. An administrator of it
        can give you the role:
      </p>
      <Command text={`ctl grants create ${me.subject} ${roleOf(missing.relation)} ${object}`} />
    </div>
  )
}

/** The smallest role with a relation. */
const roleOf = (relation: string): string => ROLES[relation] ?? 'admin'

const ROLES: Readonly<Record<string, string>> = {
  auditor: 'auditor',
  read: 'viewer',
  'domain-view': 'viewer',
  operate: 'operator',
  'node-operate': 'operator',
  'node-agent': 'operator',
}

interface LoadedViewProps<T> {
  readonly of: Loaded<T>
  /** What is asked for, e.g. `the nodes`; the view where it is absent. */
  readonly what?: string
  readonly children: (value: T) => ComponentChildren
}

/** The three states of a question: asked, failed, answered. A failure to ask again keeps the last answer in view. */
export function LoadedView<T>({ of: { value, failure, retry }, what, children }: LoadedViewProps<T>): VNode {
  return (
    <>
      {failure !== undefined && <Problem failure={failure} retry={retry} what={what} />}
      {value !== undefined && children(value)}
      {value === undefined && failure === undefined && <p class="muted loading">Loading …</p>}
    </>
  )
}

/** A list without rows, and the command that would change that. */
export function Empty({
  children,
  command,
}: {
  readonly children: ComponentChildren
  readonly command?: string
}): VNode {
  return (
    <div class="empty">
      <p>{children}</p>
      {command !== undefined && <Command text={command} />}
    </div>
  )
}

/** The heading of a view, which takes the focus when the view changes. */
export function Heading({
  children,
  note,
}: {
  readonly children: ComponentChildren
  readonly note?: ComponentChildren
}): VNode {
  return (
    <div class="heading">
      <h1 id="view" tabIndex={-1}>
        {children}
      </h1>
      {note !== undefined && <p class="muted">{note}</p>}
    </div>
  )
}

interface FieldProps {
  /** Of the control among the children. */
  readonly id: string
  readonly label: string
  readonly children: ComponentChildren
}

/** A control of a form with its label. The label is beside it: options of a select are no part of its name. */
export function Field({ id, label, children }: FieldProps): VNode {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
    </div>
  )
}

/** Members of an object by their names. Absent values are left out. */
export function Facts({ facts }: { readonly facts: readonly (readonly [string, ComponentChildren])[] }): VNode {
  const shown = facts.filter(([, value]) => value !== undefined && value !== null && value !== '')
  return (
    <dl class="facts">
      {shown.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
