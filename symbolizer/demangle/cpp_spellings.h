// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

namespace firetower::symbolizer {

// Itanium C++ ABI, 5.1.5.2 "Builtin types", by letter from 'a' on, and how a value of it is
// written: with a suffix, or with "(type)" before it.
struct CppBuiltin {
  std::string_view name;  // empty: none
  std::string_view suffix = {};
  bool is_cast = true;
};
inline constexpr std::array<CppBuiltin, 26> kCppBuiltins = {{
    {"signed char"},                       // a
    {"bool"},                              // b
    {"char"},                              // c
    {"double"},                            // d
    {"long double"},                       // e
    {"float"},                             // f
    {"__float128"},                        // g
    {"unsigned char"},                     // h
    {"int", "", false},                    // i
    {"unsigned int", "u", false},          // j
    {""},                                  // k
    {"long", "l", false},                  // l
    {"unsigned long", "ul", false},        // m
    {"__int128"},                          // n
    {"unsigned __int128"},                 // o
    {""},                                  // p
    {""},                                  // q
    {""},                                  // r
    {"short"},                             // s
    {"unsigned short"},                    // t
    {""},                                  // u
    {"void"},                              // v
    {"wchar_t"},                           // w
    {"long long", "ll", false},            // x
    {"unsigned long long", "ull", false},  // y
    {"..."},                               // z
}};

// 5.1.6.2 "Operator encodings".
struct CppOperator {
  std::string_view code;
  std::string_view name;
};
inline constexpr CppOperator kCppOperators[] = {
    {"aN", "&="}, {"aS", "="},       {"aa", "&&"},   {"ad", "&"},      {"an", "&"},
    {"cl", "()"}, {"cm", ","},       {"co", "~"},    {"dV", "/="},     {"da", " delete[]"},
    {"de", "*"},  {"dl", " delete"}, {"dv", "/"},    {"eO", "^="},     {"eo", "^"},
    {"eq", "=="}, {"ge", ">="},      {"gt", ">"},    {"ix", "[]"},     {"lS", "<<="},
    {"le", "<="}, {"ls", "<<"},      {"lt", "<"},    {"mI", "-="},     {"mL", "*="},
    {"mi", "-"},  {"ml", "*"},       {"mm", "--"},   {"na", " new[]"}, {"ne", "!="},
    {"ng", "-"},  {"nt", "!"},       {"nw", " new"}, {"oR", "|="},     {"oo", "||"},
    {"or", "|"},  {"pL", "+="},      {"pl", "+"},    {"pm", "->*"},    {"pp", "++"},
    {"ps", "+"},  {"pt", "->"},      {"rM", "%="},   {"rS", ">>="},    {"rm", "%"},
    {"rs", ">>"},
};

// 5.1.8 "Compression": what is so common that it has a letter. A constructor or destructor behind
// it shows the type with its arguments.
struct CppStandardName {
  char code;
  std::string_view name;
  std::string_view with_arguments;
  std::string_view class_name;
};
inline constexpr CppStandardName kCppStandardNames[] = {
    {'t', "std", "std", ""},
    {'a', "std::allocator", "std::allocator", "allocator"},
    {'b', "std::basic_string", "std::basic_string", "basic_string"},
    {'s', "std::string", "std::basic_string<char, std::char_traits<char>, std::allocator<char> >",
     "basic_string"},
    {'i', "std::istream", "std::basic_istream<char, std::char_traits<char> >", "basic_istream"},
    {'o', "std::ostream", "std::basic_ostream<char, std::char_traits<char> >", "basic_ostream"},
    {'d', "std::iostream", "std::basic_iostream<char, std::char_traits<char> >", "basic_iostream"},
};

}  // namespace firetower::symbolizer
