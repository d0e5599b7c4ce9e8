/** The agent that lets a session in. */
export interface FarDoor {
  readonly name: string
  /** Its mesh address. */
  readonly address: string
  /** What the session reaches there, as it was asked for. */
  readonly target: string
}
