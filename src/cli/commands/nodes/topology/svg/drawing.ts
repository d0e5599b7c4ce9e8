/** The drawing between title and legend, in px from its own upper left corner. */
export interface Drawing {
  readonly width: number
  readonly height: number
  readonly body: readonly string[]
}
