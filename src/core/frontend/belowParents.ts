// Orders conversations for a list: subagents directly below the conversation that started them. Pure.

interface Listed {
  readonly id: string;
  readonly subagent?: { readonly parent: string } | undefined;
}

/** Otherwise keeps the order. `nested`: the item is below its parent, which is also in the list. */
export function belowParents<T extends Listed>(all: readonly T[]): { readonly item: T; readonly nested: boolean }[] {
  const ids = new Set(all.map(({ id }) => id));
  const children = new Map<string, T[]>();
  for (const item of all) {
    const parent = item.subagent?.parent;
    if (parent === undefined || !ids.has(parent)) continue;
    children.set(parent, [...(children.get(parent) ?? []), item]);
  }
  const ordered: { item: T; nested: boolean }[] = [];
  const added = new Set<string>();
  const add = (first: T, nested: boolean) => {
    // Not recursive, since a damaged log may name any parent.
    const next = [{ item: first, nested }];
    for (let one = next.shift(); one !== undefined; one = next.shift()) {
      if (added.has(one.item.id)) continue;
      added.add(one.item.id);
      ordered.push(one);
      next.unshift(...(children.get(one.item.id) ?? []).map((item) => ({ item, nested: true })));
    }
  };
  for (const item of all) if (item.subagent === undefined || !ids.has(item.subagent.parent)) add(item, false);
  for (const item of all) add(item, false);
  return ordered;
}
