// The model's to-do list: one line with its progress, opening to the whole list.
import { useId, useState } from 'preact/hooks';
import type { TodoItem } from '../../protocol/todo.ts';
import { memo } from '../memo.ts';
import { strings } from '../strings/strings.ts';
import { Icon } from './icons.tsx';
import { visibleText } from './visibleText.ts';

export const TodoList = memo(function TodoList({ items }: { readonly items: readonly TodoItem[] }) {
  const [chosen, setChosen] = useState<boolean | null>(null);
  const id = useId();
  if (items.length === 0) return null;
  const done = items.filter(({ state }) => state === 'done').length;
  const current = items.find(({ state }) => state === 'doing');
  // A completed list is folded by default.
  const open = chosen ?? done < items.length;
  return (
    <section class="todo" aria-label={strings.todo}>
      <button type="button" class="todo-head" aria-expanded={open} aria-controls={id} onClick={() => setChosen(!open)}>
        <Icon name={open ? 'chevron-down' : 'chevron-right'} />
        <span>{strings.todo}</span>
        <span class="todo-count">{strings.todoCount(done, items.length)}</span>
        {!open && current !== undefined && <span class="todo-current">{visibleText(current.text)}</span>}
      </button>
      <ul id={id} class="todo-items" hidden={!open} tabIndex={0} aria-label={strings.todoItems}>
        {items.map(({ text, state }, index) => (
          <li key={index} class={`todo-item todo-${state}`}>
            <span class="todo-mark">{state === 'done' && <Icon name="check" />}</span>
            <span>
              <span class="hidden">{strings.todoStates[state]}: </span>
              {visibleText(text)}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
});
