/** Paths of granted questions, as chains of names that share their tails. Kept between checks. */
export class GrantPath {
  readonly #names: string[] = ['']
  readonly #next: number[] = [DIRECT]
  #size = 1

  clear(): void {
    this.#size = 1
  }

  /** The path that goes through `name` and then along `rest`. */
  step(name: string, rest: number): number {
    this.#names[this.#size] = name
    this.#next[this.#size] = rest
    return this.#size++
  }

  /** The path along `first` and then along `second`, as an intersection is granted. */
  joined(first: number, second: number): number {
    return this.names(first).reduceRight((rest, name) => this.step(name, rest), second)
  }

  /** Names along the path, in order. */
  names(path: number): string[] {
    const names: string[] = []
    for (let at = path; at !== DIRECT; at = this.#next[at] ?? DIRECT) names.push(this.#names[at] ?? '')
    return names
  }
}

/** The path of a direct binding: no names. */
export const DIRECT = 0
