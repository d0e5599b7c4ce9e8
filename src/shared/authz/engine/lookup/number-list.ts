import { grownColumn } from '../columns.ts'

const FIRST_CAPACITY = 16

/** Integers, as many as there are. */
export class NumberList {
  #numbers = new Int32Array(FIRST_CAPACITY)
  #size = 0

  push(number: number): void {
    if (this.#size === this.#numbers.length) this.#numbers = grownColumn(this.#numbers, this.#size * 2, 0)
    this.#numbers[this.#size++] = number
  }

  numbers(): Int32Array {
    return this.#numbers.subarray(0, this.#size)
  }
}
