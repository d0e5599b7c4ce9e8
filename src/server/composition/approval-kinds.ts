import type { ApprovalKind, ApprovalKinds } from '../ports/approval-kind.ts'

/** The kinds of all slices. The slice of the approvals is given them before the other slices, which own them, are there. */
export interface CollectedKinds extends ApprovalKinds {
  /** @throws Error where two have the same name. */
  add(kinds: readonly ApprovalKind[]): void
}

export function collectApprovalKinds(): CollectedKinds {
  const byName = new Map<string, ApprovalKind>()
  return {
    add(kinds) {
      for (const kind of kinds) {
        if (byName.has(kind.kind)) throw new Error(`two slices have approvals of the kind ${kind.kind}`)
        byName.set(kind.kind, kind)
      }
    },
    of(name) {
      const kind = byName.get(name)
      if (kind === undefined) throw new Error(`no slice has approvals of the kind ${name}`)
      return kind
    },
  }
}
