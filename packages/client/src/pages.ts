/** Lists that have pages: await one for a page, or iterate over it for all items. */

export interface Page<Item> {
  readonly items: ReadonlyArray<Item>
  /** `cursor` of the next page. Null on the last one. */
  readonly next_cursor: string | null
}

/**
 * `await rungate.runs.list()` is one page. `for await (const run of rungate.runs.list())` goes over all items, and reads each page when it is needed.
 * Nothing is sent before.
 */
export interface Pages<Item> extends PromiseLike<Page<Item>>, AsyncIterable<Item> {}

export const pagesOf = <Item>(read: (cursor: string | null) => Promise<Page<Item>>): Pages<Item> => ({
  // oxlint-disable-next-line unicorn/no-thenable -- a page is what is awaited
  then: (onPage, onError) => read(null).then(onPage, onError),
  async *[Symbol.asyncIterator]() {
    for (let cursor: string | null = null; ; ) {
      const page: Page<Item> = await read(cursor)
      yield* page.items
      cursor = page.next_cursor
      if (cursor === null) return
    }
  }
})
