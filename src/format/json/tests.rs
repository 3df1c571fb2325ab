//! JSON to trees and back.
