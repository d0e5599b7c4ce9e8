/** A caller, as much as is asked about Definitions. */
interface Holder {
  holds(relation: string, object: string): Promise<boolean>
}

/** Says whether a caller knows of a Definition: who may neither read nor assign it does not (decisions: Labels). Each is asked about once. */
export function knowsDefinition(caller: Holder): (definitionId: string) => Promise<boolean> {
  const asked = new Map<string, Promise<boolean>>()
  const ask = async (id: string): Promise<boolean> =>
    (await caller.holds('read', `labeldefinition:${id}`)) || (await caller.holds('assign', `labeldefinition:${id}`))
  return (id) => {
    const known = asked.get(id) ?? ask(id)
    asked.set(id, known)
    return known
  }
}
