// The model's to-do list: the arguments of its tool, which the chat also shows.
import * as z from 'zod';

const todoItemSchema = z.strictObject({
  text: z.string().min(1).max(500).describe('The step, in a few words'),
  state: z.enum(['open', 'doing', 'done']),
});
export type TodoItem = z.infer<typeof todoItemSchema>;

export const todoArguments = {
  items: z.array(todoItemSchema).max(50).describe('The complete list, in order'),
};
export const todoArgumentsSchema = z.strictObject(todoArguments);
