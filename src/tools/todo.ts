// The tool todo: the model's own list of what is to be done, which the user sees beside the chat.
import { type TodoItem, todoArguments } from '../protocol/todo.ts';
import { answer, defineTool } from './defineTool.ts';

export const todoTool = defineTool({
  name: 'todo',
  description:
    'Writes your to-do list, which the user sees. Use it for work of several steps: write the list when you know them, mark one as doing when you begin it and as done as soon as it is. Each call gives the whole list; an empty one removes it.',
  effect: 'read',
  traits: { writesTodo: true },
  arguments: todoArguments,
  // The list itself is what the log keeps of the call.
  run: async ({ items }) => answer(describe(items)),
});

function describe(items: readonly TodoItem[]): string {
  if (items.length === 0) return 'The list is empty.';
  const count = (state: TodoItem['state']) => items.filter((item) => item.state === state).length;
  return `Noted: ${count('done')} done, ${count('doing')} being done, ${count('open')} open.`;
}
