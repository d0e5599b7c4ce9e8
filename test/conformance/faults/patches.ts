import { text, withBody, type Fault } from './fault.ts'

const EMPTY = 'refuses a patch without members as empty_patch, and stores nothing'
const IMMUTABLE = 'refuses a patch that names what cannot change, whatever else is wrong with it'

/** The body without a member that must not be there. */
const without = (member: string, body: string): string => {
  const { [member]: _gone, ...others }: Record<string, unknown> = JSON.parse(body)
  return JSON.stringify({ slug: 'x', ...others })
}

/** Patches that should not have been taken. */
export const patchFaults: readonly Fault[] = [
  {
    fault: 'a patch without members changes nothing',
    operation: 'PatchThing',
    rule: EMPTY,
    edge: withBody(
      () => '{"slug":"x"}',
      (wire) => text(wire) === '{}',
    ),
    says: 'status: 200',
  },
  {
    fault: 'a member that cannot change is ignored',
    operation: 'PatchThing',
    rule: IMMUTABLE,
    edge: withBody(
      (body) => without('kind', body),
      (wire) => text(wire) === '{"kind":"x"}',
    ),
    says: 'status: 200',
  },
  {
    fault: 'a member that is wrong is found before one that cannot change',
    operation: 'PatchThing',
    rule: IMMUTABLE,
    edge: withBody(
      (body) => without('kind', body),
      (wire) => text(wire).includes('slug'),
    ),
    says: 'invalid_kind',
  },
]
