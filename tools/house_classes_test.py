# SPDX-License-Identifier: Apache-2.0
"""Of tools/house: what counts as a public method and as a field."""
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.append(str(pathlib.Path(__file__).resolve().parent))
from house_classes import classes_of  # noqa: E402


def read(source):
    """Name, public methods and fields of each class."""
    return [(one.name, one.methods, one.fields) for one in classes_of({"file": source})]


class Names(unittest.TestCase):
    def test_final_is_no_name(self):
        self.assertEqual(read("class Target final : public Base {\n int a_;\n};"), [("Target", 0, 1)])
        self.assertEqual(read("class Target final {\n};"), [("Target", 0, 0)])

    def test_macros_and_attributes_are_no_names(self):
        self.assertEqual(read("class HOLDFAST_EXPORT [[nodiscard]] Hold {\n};"), [("Hold", 0, 0)])
        self.assertEqual(read("class HOLDFAST_CAPABILITY(\"mutex\") Mutex {\n};"), [("Mutex", 0, 0)])

    def test_what_is_only_declared_is_no_class(self):
        self.assertEqual(read("class Client;\nenum class Mode { a, b };\nvoid f(class Other* it);"), [])

    def test_a_nested_class_counts_for_itself(self):
        self.assertEqual(read("class Outer {\n struct Inner final {\n  int a, b;\n };\n Inner inner_;\n};"),
                         [("Outer", 0, 1), ("Outer::Inner", 0, 2)])

    def test_one_that_is_defined_with_its_variable_is_a_field_too(self):
        self.assertEqual(read("struct Outer {\n struct {\n  int a;\n } inner;\n};")[0], ("Outer", 0, 1))

    def test_a_specialisation(self):
        self.assertEqual(read("template <>\nstruct holds<int> : base<int> {\n int a;\n};"), [("holds", 0, 1)])

    def test_a_variable_is_no_class(self):
        self.assertEqual(read("struct stat file{};"), [])

    def test_template_parameters_are_no_classes(self):
        self.assertEqual(read("template <class T, class U = int>\nclass Box {\n T value_;\n};"), [("Box", 0, 1)])


class Methods(unittest.TestCase):
    def methods(self, body):
        (_, methods, fields), = read("class It {\n public:\n" + body + "\n};")
        self.assertEqual(fields, 0)
        return methods

    def test_each_overload_with_and_without_a_body(self):
        self.assertEqual(self.methods("void a();\nvoid a(int);\nint b() const { return f({1, 2}); }"), 3)

    def test_templates_and_operators(self):
        self.assertEqual(self.methods("template <class F>\nvoid a(F&& f) {}\nint operator()(int) const;"), 2)

    def test_pure_ones(self):
        self.assertEqual(self.methods("virtual void a() = 0;\nvirtual int b() const noexcept { return {}; }"), 2)

    def test_constructors_and_their_like_are_none(self):
        self.assertEqual(self.methods("""It() = default;
            explicit It(int a) : a_(a), b_{a, {a}} {}
            It(const It&) = delete;
            It& operator=(const It&) = delete;
            It& operator=(It&& other) noexcept { return *this; }
            virtual ~It() { end(); }
            bool operator==(const It&) const = default;"""), 0)

    def test_friends_aliases_and_types_are_none(self):
        self.assertEqual(self.methods("""friend bool operator<(const It& a, const It& b) { return true; }
            friend class Other;
            using Done = std::function<void(int)>;
            enum class State { on, off };
            static_assert(sizeof(int) == 4);"""), 0)

    def test_only_public_ones_count(self):
        self.assertEqual(read("class It {\n void a();\n public:\n void b();\n protected:\n void c();\n};"), [("It", 1, 0)])
        self.assertEqual(read("struct It {\n void a();\n private:\n void b();\n};"), [("It", 1, 0)])

    def test_what_a_comment_or_a_text_says_counts_for_nothing(self):
        self.assertEqual(self.methods('// void a();\n/* void b(); */\nvoid c() { say("} void d();"); }'), 1)

    def test_the_separators_of_a_number_are_no_quotes(self):
        self.assertEqual(self.methods("void a() { wait(100'000); }\nvoid b();\nvoid c() { wait(1'000); }"), 3)


class Fields(unittest.TestCase):
    def fields(self, body):
        (_, methods, fields), = read("class It {\n" + body + "\n};")
        self.assertEqual(methods, 0)
        return fields

    def test_with_all_ways_to_initialise(self):
        self.assertEqual(self.fields("int a_;\nint b_ = f(1, 2);\nint c_{3};\nstd::map<int, int> d_ = {{1, 2}, {3, 4}};"), 4)

    def test_several_in_one_declaration(self):
        self.assertEqual(self.fields("std::atomic<int> a{0}, b{0};\nint c, *d;"), 4)

    def test_functions_that_are_kept(self):
        self.assertEqual(self.fields("std::function<void(int, int)> a_;\nint (*b_)(int);\n"
                                     "std::function<void()> c_ = [] { f(); };"), 3)

    def test_with_an_annotation(self):
        self.assertEqual(self.fields("bool over_ HOLDFAST_GUARDED_BY(mutex_) = false;"), 1)

    def test_static_ones_are_none(self):
        self.assertEqual(self.fields("static constexpr int kMost = 2;\ninline static int count = 0;\nint a_;"), 1)


if __name__ == "__main__":
    unittest.main()
