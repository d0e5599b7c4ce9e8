/** A caller, as much as is asked about Definitions. */
interface Holder {
  holds(relation: string, object: string): Promise<boolean>
}

/** Says whether a caller knows of a Definition: who may neither read nor assign it does not (decisions: Labels). */
export function knowsDefinition(caller: Holder): (definitionId: string) => Promise<boolean> {
  return async (id) =>
    (await caller.holds('read', `labeldefinition:${id}`)) || (await caller.holds('assign', `labeldefinition:${id}`))
}
