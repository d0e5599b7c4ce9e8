import type { ChangeAuditEntry } from '../ports/unit-of-work.ts'

/** What is done to a release: the verb of its audit relation. */
export type ReleaseVerb = 'import' | 'support' | 'deprecate' | 'withdraw' | 'judge'

/** The audit row of a release that the server, or an operator beside it, changed. */
export function releaseAudit(
  subject: `system:${string}`,
  verb: ReleaseVerb,
  { version, context }: { readonly version: string; readonly context: Readonly<Record<string, unknown>> },
): ChangeAuditEntry {
  const relation = `plexd_artifact.${verb}`
  const object = `plexd_artifact:${version}`
  return { domainId: null, subject, relation, object, outcome: 'granted', reason: 'granted', context }
}
