// A program of Ink that draws one line: the first frame of the dashboard is compared with its.

process.env.NODE_ENV = "production";
const [{ render, Text }, { createElement }] = await Promise.all([import("ink"), import("react")]);
render(createElement(Text, null, "One line"));
